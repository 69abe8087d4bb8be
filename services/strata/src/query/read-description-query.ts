import { splitWords } from "../store/description-words.js";

/** What a description search asks for. */
export interface DescriptionQuery {
  /** Every word, of phrases too, must be in the name or the description. */
  readonly words: readonly { readonly word: string; readonly byPrefix: boolean }[];
  /** Words that must follow each other. */
  readonly phrases: readonly (readonly string[])[];
}

/**
 * Reads words and "quoted phrases". Nothing else has a meaning: operators, brackets and stars are only what stands between
 * words. A quote without a partner is no quote. The last word may go on, unless it closes a phrase.
 */
export function readDescriptionQuery(q: string): DescriptionQuery {
  // A word that is asked for again and again is looked up once: 128 times would take that much longer.
  const words = new Map<string, { word: string; byPrefix: boolean }>();
  const phrases: string[][] = [];
  const parts = q.split('"');
  parts.forEach((part, number) => {
    const isPhrase = number % 2 === 1 && number < parts.length - 1;
    const found = splitWords(part);
    if (isPhrase && found.length > 1) phrases.push(found);
    const endsQuery = !isPhrase && parts.slice(number + 1).every((rest) => splitWords(rest).length === 0);
    found.forEach((word, place) => {
      const byPrefix = endsQuery && place === found.length - 1;
      words.set(`${word} ${byPrefix}`, { word, byPrefix });
    });
  });
  return { words: [...words.values()], phrases };
}
