import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearNames } from "./index.js";

/** One slip of the keyboard at a place of a word. */
const slips: readonly ((word: string, at: number) => string)[] = [
  (word, at) => word.slice(0, at) + word.slice(at + 1),
  (word, at) => `${word.slice(0, at)}#${word.slice(at)}`,
  (word, at) => `${word.slice(0, at)}#${word.slice(at + 1)}`,
  (word, at) => word.slice(0, at) + (word[at + 1] ?? "") + word[at]! + word.slice(at + 2),
];
const word = fc.stringMatching(/^[a-z0-9-]{4,20}$/);

describe("near names", () => {
  it.each<[string, string[], string[]]>([
    ["pyhton", ["python", "perl", "pytho"], ["python", "pytho"]],
    ["PYTHON", ["python"], ["python"]],
    ["fire", ["firefox", "fir", "firefox-esr", "hire"], ["firefox", "firefox-esr", "fir"]],
    ["zzz", ["python"], []],
    ["a", ["abc", "b", "bcd"], ["b"]],
    ["", ["a", "bb"], ["a"]],
    ["python", [], []],
  ])("of %s among %j", (given, known, near) => {
    expect(nearNames(given, known)).toEqual(near);
  });

  it("gives as many as are asked for", () => {
    expect(nearNames("helo", ["hello", "help", "hero", "halo"], 1)).toEqual(["halo"]);
    expect(nearNames("helo", ["hello", "help", "hero", "halo"])).toHaveLength(3);
  });

  it("finds every word after one slip, and names no worse one before it", () => {
    fc.assert(
      fc.property(word, fc.nat(), fc.constantFrom(...slips), (known, place, slip) => {
        const mistyped = slip(known, place % known.length);
        expect(nearNames(mistyped, ["entirely different", known, `${known}-and-more`])[0]).toBe(known);
      }),
    );
  });

  it("takes texts of any length and kind", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string({ maxLength: 200 })), (given, known) => {
        for (const name of nearNames(given, known)) expect(known).toContain(name);
      }),
    );
  });
});
