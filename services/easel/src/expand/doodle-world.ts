/** Keeps an expansion inside what doodle can draw: the user's words, and words of its own captions. */
import { DOODLE_WORDS } from "./doodle-words.js";
import { addedWords, missingWords } from "./subject-words.js";

export const foreignWords = (prompt: string, expansion: string): string[] =>
  addedWords(prompt, expansion).filter(
    (word) => !DOODLE_WORDS.has(word) && !DOODLE_WORDS.has(word.replace(/(?:es|s)$/, "")),
  );

/**
 * Without the phrases (between commas) that doodle has no picture for. Undefined when that would take part of the subject away.
 */
export function stayInWorld(prompt: string, expansion: string): string | undefined {
  if (foreignWords(prompt, expansion).length === 0) return expansion;
  const kept = expansion
    .split(/,\s*|\.\s+/)
    .filter((phrase) => foreignWords(prompt, phrase).length === 0)
    .join(", ");
  return missingWords(prompt, kept).length === 0 ? kept : undefined;
}
