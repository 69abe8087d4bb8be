/** Filters of convolutions in the order of onnxruntime's blocked (NCHWc) kernels, made by assembly/block-filters.ts. */
import { loadWeightKernel, MEMORY_START, type WeightKernel, type WeightType } from "./weight-kernel.js";

/** Channels that a blocked kernel takes at a time: as many floats as a vector register holds. */
export type FilterBlock = 8 | 16;

export interface FilterShape {
  readonly type: WeightType;
  readonly inputs: number;
  /** height times width of a filter */
  readonly taps: number;
  readonly block: FilterBlock;
}

export interface FilterBlocker {
  /** to be filled with `block` filters, [block, inputs, taps] */
  readonly filters: Uint8Array;
  /** these as float32, [inputs / block, taps, block inputs, block outputs], in pieces that are good until the next one is asked for */
  pieces(): Generator<Uint8Array>;
}

type BlockRows = (from: number, stride: number, inputs: number, taps: number, block: number, to: number) => void;

type Kernel = WeightKernel<{
  readonly blockFloats: BlockRows;
  readonly blockHalves: BlockRows;
  readonly blockBfloats: BlockRows;
}>;

/** Results handed out at a time: still in the core's second-level cache when they are written. */
const PIECE_BYTES = 1 << 18;

let loaded: Kernel | undefined;

/** One at a time: all of a thread share their memory. */
export function openFilterBlocker({ type, inputs, taps, block }: FilterShape): FilterBlocker {
  loaded ??= loadWeightKernel("block-filters");
  const { exports } = loaded;
  const size = type === "F32" ? 4 : 2;
  const stride = inputs * taps * size;
  const resultAt = MEMORY_START + block * stride;
  const groupBytes = block * block * taps * 4;
  const groups = Math.max(1, Math.floor(PIECE_BYTES / groupBytes));
  const memory = loaded.memory(resultAt + groups * groupBytes);
  const blockRows = { F32: exports.blockFloats, F16: exports.blockHalves, BF16: exports.blockBfloats }[type];
  return {
    filters: new Uint8Array(memory, MEMORY_START, block * stride),
    *pieces() {
      for (let first = 0; first < inputs; first += groups * block) {
        const count = Math.min(groups * block, inputs - first);
        blockRows(MEMORY_START + first * taps * size, stride, count, taps, block, resultAt);
        yield new Uint8Array(memory, resultAt, (count / block) * groupBytes);
      }
    },
  };
}
