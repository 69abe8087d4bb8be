/**
 * Expands GGUF's quantised blocks to Float32. Written here because no package on npm does it;
 * the layouts are those of ggml's block structures, checked against the `gguf` Python package.
 */
import { halfToFloat } from "./half-floats.js";
import { layoutOf, type TensorType } from "./tensor-type.js";

export type BlockType = Extract<TensorType, `Q${string}`>;

/** Expands one block that starts at `at` of `bytes` into `out` from `to` on. */
type ExpandBlock = (bytes: Uint8Array, at: number, out: Float32Array, to: number) => void;

const half = (bytes: Uint8Array, at: number): number => halfToFloat(bytes[at]! | (bytes[at + 1]! << 8));
const signed = (byte: number): number => (byte << 24) >> 24;

const expandQ4_0: ExpandBlock = (bytes, at, out, to) => {
  const scale = half(bytes, at);
  for (let i = 0; i < 16; i++) {
    const pair = bytes[at + 2 + i]!;
    out[to + i] = scale * ((pair & 15) - 8);
    out[to + 16 + i] = scale * ((pair >> 4) - 8);
  }
};

const expandQ4_1: ExpandBlock = (bytes, at, out, to) => {
  const scale = half(bytes, at);
  const least = half(bytes, at + 2);
  for (let i = 0; i < 16; i++) {
    const pair = bytes[at + 4 + i]!;
    out[to + i] = scale * (pair & 15) + least;
    out[to + 16 + i] = scale * (pair >> 4) + least;
  }
};

const expandQ5_0: ExpandBlock = (bytes, at, out, to) => {
  const scale = half(bytes, at);
  for (let i = 0; i < 16; i++) {
    const pair = bytes[at + 6 + i]!;
    out[to + i] = scale * (((pair & 15) | (fifthBit(bytes, at + 2, i) << 4)) - 16);
    out[to + 16 + i] = scale * (((pair >> 4) | (fifthBit(bytes, at + 2, i + 16) << 4)) - 16);
  }
};

const expandQ5_1: ExpandBlock = (bytes, at, out, to) => {
  const scale = half(bytes, at);
  const least = half(bytes, at + 2);
  for (let i = 0; i < 16; i++) {
    const pair = bytes[at + 8 + i]!;
    out[to + i] = scale * ((pair & 15) | (fifthBit(bytes, at + 4, i) << 4)) + least;
    out[to + 16 + i] = scale * ((pair >> 4) | (fifthBit(bytes, at + 4, i + 16) << 4)) + least;
  }
};

function fifthBit(bytes: Uint8Array, at: number, index: number): number {
  return (bytes[at + (index >> 3)]! >> (index & 7)) & 1;
}

const expandQ8_0: ExpandBlock = (bytes, at, out, to) => {
  const scale = half(bytes, at);
  for (let i = 0; i < 32; i++) out[to + i] = scale * signed(bytes[at + 2 + i]!);
};

/** 16 groups of 16, each with a 4-bit scale and a 4-bit minimum. */
const expandQ2_K: ExpandBlock = (bytes, at, out, to) => {
  const scale = half(bytes, at + 80);
  const least = half(bytes, at + 82);
  for (let i = 0; i < 256; i++) {
    const group = bytes[at + (i >> 4)]!;
    const quarter = bytes[at + 16 + (i >> 7) * 32 + (i & 31)]!;
    const level = (quarter >> (((i >> 5) & 3) * 2)) & 3;
    out[to + i] = scale * (group & 15) * level - least * (group >> 4);
  }
};

/** 16 groups of 16 with 6-bit scales in 12 bytes; the third bit of each level lies apart. */
const expandQ3_K: ExpandBlock = (bytes, at, out, to) => {
  const scale = half(bytes, at + 108);
  const scales = at + 96;
  for (let i = 0; i < 256; i++) {
    const group = i >> 4;
    const low = group < 8 ? bytes[scales + group]! & 15 : bytes[scales + group - 8]! >> 4;
    const high = (bytes[scales + 8 + (group & 3)]! >> ((group >> 2) * 2)) & 3;
    const quarter = bytes[at + 32 + (i >> 7) * 32 + (i & 31)]!;
    const level = (quarter >> (((i >> 5) & 3) * 2)) & 3;
    const third = (bytes[at + (i & 31)]! >> (i >> 5)) & 1;
    out[to + i] = scale * ((low | (high << 4)) - 32) * (level - (third === 1 ? 0 : 4));
  }
};

/** Scale and minimum (6 bits each) of group 0..7, packed in 12 bytes. */
function scaleAndMinimum(bytes: Uint8Array, at: number, group: number): [number, number] {
  if (group < 4) return [bytes[at + group]! & 63, bytes[at + group + 4]! & 63];
  return [
    (bytes[at + group + 4]! & 15) | ((bytes[at + group - 4]! >> 6) << 4),
    (bytes[at + group + 4]! >> 4) | ((bytes[at + group]! >> 6) << 4),
  ];
}

const expandQ4_K: ExpandBlock = (bytes, at, out, to) => {
  const scale = half(bytes, at);
  const least = half(bytes, at + 2);
  for (let group = 0; group < 8; group++) {
    const [groupScale, groupLeast] = scaleAndMinimum(bytes, at + 4, group);
    for (let i = 0; i < 32; i++) {
      const pair = bytes[at + 16 + (group >> 1) * 32 + i]!;
      const level = group & 1 ? pair >> 4 : pair & 15;
      out[to + group * 32 + i] = scale * groupScale * level - least * groupLeast;
    }
  }
};

const expandQ5_K: ExpandBlock = (bytes, at, out, to) => {
  const scale = half(bytes, at);
  const least = half(bytes, at + 2);
  for (let group = 0; group < 8; group++) {
    const [groupScale, groupLeast] = scaleAndMinimum(bytes, at + 4, group);
    for (let i = 0; i < 32; i++) {
      const pair = bytes[at + 48 + (group >> 1) * 32 + i]!;
      const high = (bytes[at + 16 + i]! >> group) & 1;
      const level = (group & 1 ? pair >> 4 : pair & 15) | (high << 4);
      out[to + group * 32 + i] = scale * groupScale * level - least * groupLeast;
    }
  }
};

/** Two halves of 128: four runs of 32 that share low nibbles and 2-bit tops; signed 8-bit scales per 16. */
const expandQ6_K: ExpandBlock = (bytes, at, out, to) => {
  const scale = half(bytes, at + 208);
  for (let i = 0; i < 256; i++) {
    const side = i >> 7;
    const run = (i >> 5) & 3;
    const lane = i & 31;
    const low = bytes[at + side * 64 + (run & 1) * 32 + lane]!;
    const nibble = run < 2 ? low & 15 : low >> 4;
    const top = (bytes[at + 128 + side * 32 + lane]! >> (run * 2)) & 3;
    const groupScale = signed(bytes[at + 192 + (i >> 4)]!);
    out[to + i] = scale * groupScale * ((nibble | (top << 4)) - 32);
  }
};

const EXPANDERS: Record<BlockType, ExpandBlock> = {
  Q4_0: expandQ4_0,
  Q4_1: expandQ4_1,
  Q5_0: expandQ5_0,
  Q5_1: expandQ5_1,
  Q8_0: expandQ8_0,
  Q2_K: expandQ2_K,
  Q3_K: expandQ3_K,
  Q4_K: expandQ4_K,
  Q5_K: expandQ5_K,
  Q6_K: expandQ6_K,
};

export function dequantiseBlocks(type: BlockType, bytes: Uint8Array, count: number): Float32Array {
  const { blockSize, blockBytes } = layoutOf(type);
  const expand = EXPANDERS[type];
  const out = new Float32Array(count);
  for (let block = 0; block * blockSize < count; block++) expand(bytes, block * blockBytes, out, block * blockSize);
  return out;
}
