/**
 * Filters of a 3x3 convolution over a picture that was doubled by repeating its pixels. Each pixel has become four, its corners; around any of them a filter
 * sees only four different pixels of the small picture. So it is a 2x2 filter there, whose numbers are sums of the large one's: less than half the products.
 */
import { openTensorReader, type TensorReader, type TensorRef } from "@kit/tensor-files";
import { loadWeightKernel, MEMORY_START, type WeightKernel } from "./weight-kernel.js";

export interface Corner {
  readonly name: string;
  /** 0 or 1 */
  readonly bottom: number;
  readonly right: number;
}

/** Line by line. */
export const CORNERS: readonly Corner[] = [
  { name: "top-left", bottom: 0, right: 0 },
  { name: "top-right", bottom: 0, right: 1 },
  { name: "bottom-left", bottom: 1, right: 0 },
  { name: "bottom-right", bottom: 1, right: 1 },
];

/** One result for each, or none at all where there is none for the first. */
export function mapCorners<Result>(
  make: (corner: Corner) => Result | undefined,
): [Result, Result, Result, Result] | undefined {
  const results = CORNERS.map(make);
  return results.includes(undefined) ? undefined : (results as [Result, Result, Result, Result]);
}

/** Pixels of the small picture that a corner's filter sees beyond its edges: [top, left, bottom, right]. */
export function padsOf({ bottom, right }: Corner): readonly [number, number, number, number] {
  return [1 - bottom, 1 - right, bottom, right];
}

/** Height and width of their filters. */
export const CORNER_KERNEL = [2, 2] as const;

const LARGE = 9;
const SMALL = 4;
/** Filters taken at a time: their numbers stay in a core's first-level cache. */
const PIECE = 512;
/** The kernel reads so much beyond the last filter. */
const BEYOND = 16;

type FoldFilters = (from: number, count: number, bottom: number, right: number, to: number) => void;

type Kernel = WeightKernel<{
  readonly foldFloats: FoldFilters;
  readonly foldHalves: FoldFilters;
  readonly foldBfloats: FoldFilters;
}>;

let loaded: Kernel | undefined;

/** Reads a tensor [outputs, inputs, 3, 3] as the [outputs, inputs, 2, 2] of a corner, made by assembly/fold-corners.ts. Whole filters only. */
export function openCornerReader(tensor: TensorRef, { bottom, right }: Corner): TensorReader {
  loaded ??= loadWeightKernel("fold-corners");
  const { exports } = loaded;
  const { type, readStored, close } = openTensorReader(tensor);
  const filterBytes = LARGE * (type === "F32" ? 4 : 2);
  const resultAt = MEMORY_START + PIECE * filterBytes + BEYOND;
  const memory = loaded.memory(resultAt + PIECE * SMALL * 4);
  const fold = { F32: exports.foldFloats, F16: exports.foldHalves, BF16: exports.foldBfloats }[type];
  const readFolded = (from: number, bytes: Uint8Array): void => {
    const first = from / SMALL;
    const count = bytes.length / (SMALL * 4);
    for (let done = 0; done < count; done += PIECE) {
      const filters = Math.min(PIECE, count - done);
      readStored((first + done) * LARGE, new Uint8Array(memory, MEMORY_START, filters * filterBytes));
      fold(MEMORY_START, filters, bottom, right, resultAt);
      bytes.set(new Uint8Array(memory, resultAt, filters * SMALL * 4), done * SMALL * 4);
    }
  };
  return {
    type: "F32",
    read: (from, floats) => readFolded(from, new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength)),
    readStored: readFolded,
    close,
  };
}
