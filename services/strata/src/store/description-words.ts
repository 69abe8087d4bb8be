import { createRequire } from "node:module";

/**
 * Words of descriptions and names, as the description search compares them: accents dropped, lower case, runs of
 * letters and digits. Used alike when an index is written and when a query is read, or nothing would be found.
 */

interface Stemmer {
  stem(word: string): string;
}
let english: Stemmer | undefined;

/** Made when the first word is stemmed: the package holds a megabyte of languages, which no server should start with. */
function loadStemmer(): Stemmer {
  // The package has no types and no ES module.
  const { newStemmer } = createRequire(import.meta.url)("snowball-stemmers") as {
    newStemmer(language: string): Stemmer;
  };
  return newStemmer("english");
}

const ASCII_ONLY = /^[\x20-\x7e]*$/;
const ASCII_WORD = /[a-z0-9]+/g;
const MARK = /\p{M}+/gu;
const WORD = /[\p{L}\p{N}]+/gu;

export function splitWords(text: string): string[] {
  if (ASCII_ONLY.test(text)) return text.toLowerCase().match(ASCII_WORD) ?? [];
  return text.normalize("NFKD").replace(MARK, "").toLowerCase().match(WORD) ?? [];
}

/** `libraries` and `library` have one stem. Only English is stemmed; other words stay as they are. */
export function stemWord(word: string): string {
  english ??= loadStemmer();
  return english.stem(word);
}
