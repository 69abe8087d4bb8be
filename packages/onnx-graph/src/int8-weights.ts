/** Weights as signed bytes with a scale for each output, in the order of onnxruntime's integer products; made by assembly/round-weights.ts. */
import { countElements, type TensorReader } from "@kit/tensor-files";
import { loadWeightKernel, MEMORY_START, type WeightKernel } from "./weight-kernel.js";

/** Outputs and inputs must be multiples of this: the bytes of a vector register. */
export const INT8_MULTIPLE = 16;

export interface Int8Weights {
  /** [...kernel, inputs, outputs] */
  readonly weights: Uint8Array;
  /** [outputs], float32 */
  readonly scales: Uint8Array;
}

type RoundRows = (
  from: number,
  rows: number,
  inputs: number,
  taps: number,
  scales: number,
  to: number,
  stride: number,
) => void;

type Kernel = WeightKernel<{
  readonly roundFloats: RoundRows;
  readonly roundHalves: RoundRows;
  readonly roundBfloats: RoundRows;
}>;

/** Outputs rounded at a time: a cache line of the result, so that each is written once. */
const ROWS = 64;

let loaded: Kernel | undefined;

/** Rounds a tensor [outputs, inputs, ...kernel]. The result is good until the next call: all of a thread share their memory. */
export function roundWeights(
  [outputs = 1, inputs = 1, ...kernel]: readonly number[],
  { type, readStored }: Pick<TensorReader, "type" | "readStored">,
): Int8Weights {
  loaded ??= loadWeightKernel("round-weights");
  const { exports } = loaded;
  const taps = countElements(kernel);
  const columns = inputs * taps;
  const rowBytes = columns * (type === "F32" ? 4 : 2);
  const scalesAt = MEMORY_START + ROWS * rowBytes;
  const weightsAt = scalesAt + outputs * 4;
  const memory = loaded.memory(weightsAt + outputs * columns);
  const roundRows = { F32: exports.roundFloats, F16: exports.roundHalves, BF16: exports.roundBfloats }[type];
  for (let first = 0; first < outputs; first += ROWS) {
    const rows = Math.min(ROWS, outputs - first);
    readStored(first * columns, new Uint8Array(memory, MEMORY_START, rows * rowBytes));
    roundRows(MEMORY_START, rows, inputs, taps, scalesAt + first * 4, weightsAt + first, outputs);
  }
  return {
    weights: new Uint8Array(memory, weightsAt, outputs * columns),
    scales: new Uint8Array(memory, scalesAt, outputs * 4),
  };
}
