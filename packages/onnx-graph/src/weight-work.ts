/** Weights that are made from a checkpoint's tensors before a session can map them: planned while the graph is built, done afterwards. */
import { closeSync, openSync } from "node:fs";
import { byteLength, countElements, openTensorReader, type StoredTensor, type TensorReader } from "@kit/tensor-files";
import { writeFully } from "./computed-file.js";
import { type Corner, openCornerReader } from "./corner-filters.js";
import { type FilterBlock, openFilterBlocker } from "./filter-blocker.js";
import { roundWeights } from "./int8-weights.js";
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
  /** the tensor is 3x3, its filters for this corner are wanted: `shape` is theirs */
  readonly corner?: Corner;
  readonly shape: readonly number[];
  readonly block: FilterBlock;
  readonly at: number;
}

/** A linear layer or a convolution to bytes with a scale for each output. */
export interface Int8Work extends WorkPlace {
  readonly kind: "int8";
  /** as above */
  readonly corner?: Corner;
  readonly shape: readonly number[];
  readonly weightsAt: number;
  readonly scalesAt: number;
}

export type WeightWork = QuantiseWork | BlockWork | Int8Work;

/** Numbers converted at a time: what a core's second-level cache holds with the result beside it. */
const PIECE = 2048 * BLOCK;

/** Bytes read for a piece of work: its share of the whole. */
export function weighWork(work: WeightWork): number {
  return byteLength(work.tensor);
}

export function doWeightWork(work: WeightWork): void {
  const corner = work.kind === "block" || work.kind === "int8" ? work.corner : undefined;
  const reader = corner ? openCornerReader(work.tensor, corner) : openTensorReader(work.tensor);
  const handle = openSync(work.file, "r+");
  try {
    if (work.kind === "quantise") quantiseTensor(work, reader, handle);
    else if (work.kind === "int8") roundTensor(work, reader, handle);
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

function blockTensor({ shape, block, at }: BlockWork, reader: TensorReader, handle: number): void {
  const [outputs = 1, inputs = 1, ...kernel] = shape;
  const taps = countElements(kernel);
  const { filters, pieces } = openFilterBlocker({ type: reader.type, inputs, taps, block });
  const rowBytes = filters.length / block;
  let to = at;
  for (let first = 0; first < outputs; first += block) {
    const bytes = Math.min(block, outputs - first) * rowBytes;
    reader.readStored(first * inputs * taps, filters.subarray(0, bytes));
    filters.fill(0, bytes);
    for (const piece of pieces()) {
      writeFully(handle, piece, to);
      to += piece.length;
    }
  }
}

function roundTensor({ shape, weightsAt, scalesAt }: Int8Work, reader: TensorReader, handle: number): void {
  const { weights, scales } = roundWeights(shape, reader);
  writeFully(handle, weights, weightsAt);
  writeFully(handle, scales, scalesAt);
}
