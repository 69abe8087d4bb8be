import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildSuffixArray } from "./suffix-array.js";

/** Obviously right: every suffix compared with every other. */
function sortPlainly(text: Uint8Array): number[] {
  const positions = Array.from(text.keys());
  return positions.sort((a, b) => Buffer.compare(text.subarray(a), text.subarray(b)));
}

/** Few letters make long repeats, where induced sorting has to go down several levels. */
const fewLetters = fc.integer({ min: 1, max: 3 }).chain((letters) => fc.uint8Array({ max: letters, maxLength: 300 }));
const repeated = fc
  .tuple(fc.uint8Array({ minLength: 1, maxLength: 6, max: 4 }), fc.integer({ min: 1, max: 60 }))
  .map(([piece, times]) => Uint8Array.from({ length: piece.length * times }, (_, i) => piece[i % piece.length]!));

describe("the suffix array", () => {
  it("has every position once, in the order of the suffixes", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), fewLetters, repeated), (text) => {
        expect([...buildSuffixArray(text)]).toEqual(sortPlainly(text));
      }),
      { numRuns: 1000 },
    );
  });

  it("of package paths, with their terminators", () => {
    const text = Buffer.from("python3packages.requests\0python3packages.request\0requests\0rééquest\0");
    expect([...buildSuffixArray(text)]).toEqual(sortPlainly(text));
  });
});
