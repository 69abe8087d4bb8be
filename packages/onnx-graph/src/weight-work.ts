/** Weights that are made from a checkpoint's tensors before a session can map them: planned while the graph is built, done afterwards. */
import { closeSync, openSync } from "node:fs";
import { byteLength, countElements, openTensorReader, type StoredTensor, type TensorReader } from "@kit/tensor-files";
import { blockFilters, type FilterBlock } from "./blocked-filter.js";
import { writeFully } from "./computed-file.js";
import { type Bits, BLOCK, quantise } from "./pack-weights.js";

interface WorkPlace {
  readonly tensor: StoredTensor;
  /** the file that takes the result */
  readonly file: string;
}

/** A matrix to blocks of 32 with a scale each. */
export interface QuantiseWork extends WorkPlace {
  readonly kind: "quantise";
  readonly bits: Bits;
  readonly blocksAt: number;
  readonly scalesAt: number;
}

/** Filters of a convolution to float32 in blocked order. */
export interface BlockWork extends WorkPlace {
  readonly kind: "block";
  readonly block: FilterBlock;
  readonly at: number;
}

export type WeightWork = QuantiseWork | BlockWork;

/** Numbers converted at a time: what a core's second-level cache holds with the result beside it. */
const PIECE = 2048 * BLOCK;

/** Bytes read for a piece of work: its share of the whole. */
export function weighWork(work: WeightWork): number {
  return byteLength(work.tensor);
}

export function doWeightWork(work: WeightWork): void {
  const reader = openTensorReader(work.tensor);
  const handle = openSync(work.file, "r+");
  try {
    if (work.kind === "quantise") quantiseTensor(work, reader, handle);
    else blockTensor(work, reader, handle);
  } finally {
    closeSync(handle);
    reader.close();
  }
}

function quantiseTensor(
  { tensor, bits, blocksAt, scalesAt }: QuantiseWork,
  reader: TensorReader,
  handle: number,
): void {
  const count = countElements(tensor.shape);
  const size = Math.min(PIECE, count);
  const numbers = new Float32Array(size);
  const blocks = new Uint8Array((size * bits) / 8);
  const scales = new Float32Array(size / BLOCK);
  const scaleBytes = new Uint8Array(scales.buffer);
  for (let from = 0; from < count; from += size) {
    const length = Math.min(size, count - from);
    reader.read(from, numbers.subarray(0, length));
    quantise(numbers.subarray(0, length), bits, blocks, scales.subarray(0, length / BLOCK));
    writeFully(handle, blocks.subarray(0, (length * bits) / 8), blocksAt + (from * bits) / 8);
    writeFully(handle, scaleBytes.subarray(0, (length / BLOCK) * 4), scalesAt + (from / BLOCK) * 4);
  }
}

function blockTensor({ tensor, block, at }: BlockWork, reader: TensorReader, handle: number): void {
  const [outputs = 1, inputs = 1, ...kernel] = tensor.shape;
  const taps = countElements(kernel);
  const filters = new Float32Array(block * inputs * taps);
  const blocked = new Float32Array(filters.length);
  for (let first = 0; first < outputs; first += block) {
    const here = Math.min(block, outputs - first);
    reader.read(first * inputs * taps, filters.subarray(0, here * inputs * taps));
    filters.fill(0, here * inputs * taps);
    blockFilters(filters, inputs, taps, block, blocked);
    writeFully(handle, new Uint8Array(blocked.buffer), at + first * inputs * taps * 4);
  }
}
