import { nearNames } from "@kit/near-names";
import type { TextDictionary } from "./text-dictionary.js";

/** A 404 names this many others at most. */
const NEAR = 3;
/** Paths compared letter by letter; keeps a miss well under a millisecond. */
const MOST_COMPARED = 200;
/** Where a slip is looked for; nobody mistypes longer paths by hand. */
const LONGEST_MISTYPED = 64;

/** Paths a slip of the keyboard away from the asked one. */
export function findNearPaths(paths: TextDictionary, asked: string): string[] {
  const letters = [...asked].slice(0, LONGEST_MISTYPED);
  const undone = [...undoSlips(paths, letters)];
  // Trying other letters takes longest, and one slip that can be undone is enough.
  const replaced = undone.length > 0 ? [] : replaceLetters(paths, letters);
  return nearNames(asked, new Set([...readNeighbours(paths, asked), ...undone, ...replaced]), NEAR);
}

/** The paths with the longest common beginning that are still few enough, around the place where the asked one would be. */
function* readNeighbours(paths: TextDictionary, asked: string): Generator<string> {
  const letters = [...asked];
  let { low, high } = { low: 0, high: 0 };
  for (let length = letters.length; length > 0; length--) {
    const range = paths.prefixRange(letters.slice(0, length).join(""));
    if (range.high - range.low > MOST_COMPARED) break;
    ({ low, high } = range);
  }
  if (low === high) {
    const place = paths.place(asked);
    low = Math.max(0, place - MOST_COMPARED / 2);
    high = Math.min(paths.count, place + MOST_COMPARED / 2);
  }
  for (let number = low; number < high; number++) yield paths.text(number);
}

/** Paths that have two neighbouring letters the other way round, or lack a letter: at the beginning too, where no neighbours are. */
function* undoSlips(paths: TextDictionary, letters: readonly string[]): Generator<string> {
  for (let at = 0; at < letters.length; at++) {
    const before = letters.slice(0, at).join("");
    const after = letters.slice(at + 2).join("");
    const [letter, next = ""] = [letters[at]!, letters[at + 1]];
    for (const path of [before + next + after, before + next + letter + after]) if (paths.find(path) >= 0) yield path;
  }
}

/** Paths that have another letter in one place, or one more. */
function* replaceLetters(paths: TextDictionary, letters: readonly string[]): Generator<string> {
  for (let at = 0; at <= letters.length; at++) {
    const before = letters.slice(0, at).join("");
    const after = letters.slice(at + 1).join("");
    for (const other of nextLetters(paths, before)) {
      for (const path of [before + other + after, before + other + (letters[at] ?? "") + after]) {
        if (paths.find(path) >= 0) yield path;
      }
    }
  }
}

/** The letters that paths go on with after a beginning. */
function* nextLetters(paths: TextDictionary, beginning: string): Generator<string> {
  let { low, high } = paths.prefixRange(beginning);
  while (low < high) {
    const letter = String.fromCodePoint(paths.text(low).codePointAt(beginning.length) ?? 0);
    yield letter;
    low = Math.max(low + 1, paths.prefixRange(beginning + letter).high);
  }
}
