/** Weights in blocks of 32 as MatMulNBits reads them: made from any numbers, or taken exactly from GGUF. */
import { countElements, halfToFloat, readTensorBytes, readTensorFloats, type TensorRef } from "@kit/tensor-files";

export const BLOCK = 32;

export type Bits = 8 | 4;

export interface PackedWeights {
  readonly bits: Bits;
  /** [out, in / 32, 32 * bits / 8] */
  readonly blocks: Uint8Array;
  /** [out, in / 32] */
  readonly scales: Float32Array;
}

/** A whole tensor at once. Types that hold such blocks already keep their exact values. */
export function packWeights(tensor: TensorRef, bits: Bits): PackedWeights {
  const count = countElements(tensor.shape);
  const packed = {
    bits,
    blocks: new Uint8Array((count * bits) / 8),
    scales: new Float32Array(count / BLOCK),
  };
  if (tensor.dtype === "Q8_0" && bits === 8) repackQ8(readTensorBytes(tensor), packed.blocks, packed.scales);
  else if (tensor.dtype === "Q4_0" && bits === 4) repackQ4(readTensorBytes(tensor), packed.blocks, packed.scales);
  else quantise(readTensorFloats(tensor), bits, packed.blocks, packed.scales);
  return packed;
}

/** Numbers to blocks and scales that are there already: whole blocks of any tensor, piece by piece. */
export function quantise(floats: Float32Array, bits: Bits, blocks: Uint8Array, scales: Float32Array): void {
  if (bits === 8) quantiseQ8(floats, blocks, scales);
  else quantiseQ4(floats, blocks, scales);
}

/** GGUF Q8_0: a half scale and 32 signed bytes; MatMulNBits wants unsigned ones around 128. */
function repackQ8(bytes: Uint8Array, blocks: Uint8Array, scales: Float32Array): void {
  for (let block = 0; block < scales.length; block++) {
    const at = block * 34;
    scales[block] = halfToFloat(bytes[at]! | (bytes[at + 1]! << 8));
    for (let i = 0; i < BLOCK; i++) blocks[block * BLOCK + i] = bytes[at + 2 + i]! ^ 0x80;
  }
}

/** GGUF Q4_0 pairs element i with i + 16 in a byte, MatMulNBits pairs neighbours; both mean 8 as zero. */
function repackQ4(bytes: Uint8Array, blocks: Uint8Array, scales: Float32Array): void {
  for (let block = 0; block < scales.length; block++) {
    const at = block * 18;
    scales[block] = halfToFloat(bytes[at]! | (bytes[at + 1]! << 8));
    for (let i = 0; i < 8; i++) {
      const first = bytes[at + 2 + 2 * i]!;
      const second = bytes[at + 3 + 2 * i]!;
      blocks[block * 16 + i] = (first & 15) | ((second & 15) << 4);
      blocks[block * 16 + 8 + i] = (first >> 4) | (second & 0xf0);
    }
  }
}

/** Without its sign bit a float's bits grow with its size: comparing integers is several times faster here than Math.abs and Math.max. */
const MAGNITUDE = 0x7fffffff;

function quantiseQ8(floats: Float32Array, blocks: Uint8Array, scales: Float32Array): void {
  const words = new Int32Array(floats.buffer, floats.byteOffset, floats.length);
  for (let block = 0; block < scales.length; block++) {
    const at = block * BLOCK;
    const scale = Math.abs(floats[largestIndex(words, at)]!) / 127;
    const inverse = scale > 0 ? 1 / scale : 0;
    scales[block] = scale;
    // positive from here on, so that cutting the fraction off rounds to the nearest
    for (let i = at; i < at + BLOCK; i++) blocks[i] = (floats[i]! * inverse + 128.5) | 0;
  }
}

/** The scale takes the sign of the largest element, so that all sixteen levels (-8..7) are used: what ggml does as well. */
function quantiseQ4(floats: Float32Array, blocks: Uint8Array, scales: Float32Array): void {
  const words = new Int32Array(floats.buffer, floats.byteOffset, floats.length);
  for (let block = 0; block < scales.length; block++) {
    const at = block * BLOCK;
    const scale = floats[largestIndex(words, at)]! / -8;
    const inverse = scale !== 0 ? 1 / scale : 0;
    scales[block] = scale;
    for (let i = at; i < at + BLOCK; i += 2) {
      const low = Math.min(15, (floats[i]! * inverse + 8.5) | 0);
      const high = Math.min(15, (floats[i + 1]! * inverse + 8.5) | 0);
      blocks[i >> 1] = low | (high << 4);
    }
  }
}

/** Where the block's largest number stands. Free of branches that depend on the numbers but for the last one: those are what takes time here. */
function largestIndex(words: Int32Array, at: number): number {
  let largest = 0;
  for (let i = at; i < at + BLOCK; i++) {
    const less = (largest - (words[i]! & MAGNITUDE)) | 0;
    // the maximum of two numbers below 2^31
    largest = (largest - (less & (less >> 31))) | 0;
  }
  let index = at;
  while ((words[index]! & MAGNITUDE) !== largest) index++;
  return index;
}
