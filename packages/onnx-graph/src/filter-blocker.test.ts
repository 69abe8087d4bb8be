import { bfloatsToFloats, halvesToFloats } from "@kit/tensor-files";
import { describe, expect, it } from "vitest";
import { type FilterBlock, type FilterShape, openFilterBlocker } from "./filter-blocker.js";

function blockFilters(shape: FilterShape, filters: Uint8Array): Float32Array {
  const blocker = openFilterBlocker(shape);
  blocker.filters.set(filters);
  const pieces = Array.from(blocker.pieces(), (piece) => piece.slice());
  return new Float32Array(new Uint8Array(Buffer.concat(pieces)).buffer);
}

/** The definition of the order, number by number. */
function orderOf({ inputs, taps, block }: FilterShape, floats: Float32Array): Float32Array {
  const ordered = new Float32Array(floats.length);
  for (let output = 0; output < block; output++) {
    for (let input = 0; input < inputs; input++) {
      for (let tap = 0; tap < taps; tap++) {
        const group = Math.floor(input / block) * taps + tap;
        ordered[(group * block + (input % block)) * block + output] = floats[(output * inputs + input) * taps + tap]!;
      }
    }
  }
  return ordered;
}

const bytesOf = (array: Uint16Array | Float32Array) =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).slice();

/** Bits, so that signs of zero count; what a NaN carries does not. */
const bitsOf = (floats: Float32Array) =>
  Array.from(new Uint32Array(floats.buffer), (bits, i) => (Number.isNaN(floats[i]) ? "NaN" : bits));

/** Every pattern of 16 bits once; neighbours far from each other, so that any four hold plain numbers and special ones. */
const everyWord = Uint16Array.from({ length: 1 << 16 }, (_, i) => Math.imul(i, 40503) & 0xffff);

describe("blocked filters", () => {
  it.each([
    { type: "F16", expand: halvesToFloats },
    { type: "BF16", expand: bfloatsToFloats },
  ] as const)("hold every $type exactly", ({ type, expand }) => {
    const shape = { type, inputs: 4096, taps: 1, block: 16 } as const;
    const blocked = blockFilters(shape, bytesOf(everyWord));
    expect(bitsOf(blocked)).toEqual(bitsOf(orderOf(shape, expand(everyWord))));
  });

  it.each(
    ([8, 16] as const).flatMap((block: FilterBlock) =>
      [1, 2, 9, 25].flatMap((taps) => [block, 12 * block].map((inputs) => ({ block, taps, inputs }))),
    ),
  )("stand in order: blocks of $block, $inputs inputs, $taps taps", ({ block, taps, inputs }) => {
    const count = block * inputs * taps;
    const halves = Uint16Array.from({ length: count }, (_, i) => 0x2c00 + (Math.imul(i, 40503) & 0x1fff));
    const floats = halvesToFloats(halves);
    const shape = { inputs, taps, block };
    const expected = orderOf({ ...shape, type: "F32" }, floats);
    expect(blockFilters({ ...shape, type: "F32" }, bytesOf(floats))).toEqual(expected);
    expect(blockFilters({ ...shape, type: "F16" }, bytesOf(halves))).toEqual(expected);
  });
});
