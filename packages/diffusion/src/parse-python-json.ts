/** JSON as Python writes it: Infinity, -Infinity and NaN may stand where a number does. They become strings of that name. */
export function parsePythonJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const quoted = text.replace(/([:[,]\s*)(-?Infinity|NaN)(?=\s*[,\]}])/g, '$1"$2"');
    if (quoted === text) throw error;
    return JSON.parse(quoted);
  }
}
