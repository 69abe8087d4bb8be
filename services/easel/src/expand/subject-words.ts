/** Which words of a prompt an expansion has to keep, and whether it does. */

/** Words that carry no subject: articles, and the ways of asking for a picture. */
const SKIPPED = new Set(
  (
    "a an the of and or with in on at to for from by is are be it its this that some my your our me i you we please can could would want make draw paint generate create show give render " +
    "picture image photo drawing illustration painting icon emoji pic photograph render"
  ).split(" "),
);

/** "Could you please draw me", "I'd like to see": asked of us, not part of the picture. A verb counts only before an article or pronoun ("paint brush" stays). */
const ASKING =
  /^(?:please[,\s]+)?(?:(?:can|could|would|will) you (?:please )?|i(?:['’]d| would)? (?:like|want|need) (?:you to |to see |to have )?)?(?:(?:please )?(?:draw|paint|sketch|make|create|generate|render|show|give) (?:me |us )?(?=(?:an?|the|some|my|our|his|her|their|one|two|three)\b))?/i;

/** The prompt without the words that only ask for it. */
export function withoutAsking(prompt: string): string {
  const rest = prompt.replace(ASKING, "").trim();
  return wordsOf(rest).length > 0 ? rest : prompt;
}

export const wordsOf = (text: string): string[] =>
  text.toLowerCase().match(/[\p{L}\p{M}\p{N}\p{Extended_Pictographic}]+/gu) ?? [];

/** The words that must come back; when every word is a skipped one ("a photo"), all of them count. */
export function subjectWords(prompt: string): string[] {
  const words = wordsOf(prompt);
  const carrying = words.filter((word) => !SKIPPED.has(word));
  return [...new Set(carrying.length > 0 ? carrying : words)];
}

export function missingWords(prompt: string, expansion: string): string[] {
  const have = new Set(wordsOf(expansion));
  return subjectWords(prompt).filter((word) => !have.has(word));
}

export function addedWords(prompt: string, expansion: string): string[] {
  const had = new Set(wordsOf(prompt));
  return wordsOf(expansion).filter((word) => !had.has(word));
}

/** The user's own spelling ("Eiffel", "NASA") wherever the model wrote the same word in another case. */
export function restoreCase(prompt: string, expansion: string): string {
  const spelling = new Map<string, string>();
  for (const word of prompt.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) {
    if (word !== word.toLowerCase() && !SKIPPED.has(word.toLowerCase())) spelling.set(word.toLowerCase(), word);
  }
  if (spelling.size === 0) return expansion;
  return expansion.replace(/[\p{L}\p{M}\p{N}]+/gu, (word) => spelling.get(word.toLowerCase()) ?? word);
}
