import type { FilterBlock } from "./filter-blocker.js";

/** Which runtime the graph is for: it decides between operators that mean the same but are not everywhere, or not everywhere fast. */
export type Target = "cpu" | "webgpu" | "cuda";

export interface GraphOptions {
  readonly target: Target;
  /** type of the arithmetic; inputs and outputs are float32 either way */
  readonly compute: "fp32" | "fp16";
  /**
   * What happens to weights whose type in the file is not the computing type:
   * "fold": converted once when the session is created (fastest calls; memory for the converted copy);
   * "cast": converted in each call, straight out of the mapped file (fast load, least memory).
   */
  readonly weights: "cast" | "fold";
  /** store linear layers in 8- or 4-bit blocks of 32 */
  readonly quantise?: "q8" | "q4";
  /** on a CPU: compute linear layers and convolutions as products of bytes (int8-layers.ts), but for those that ask to be precise */
  readonly int8?: boolean;
  /** on a CPU: run convolutions on kernels that take this many channels at a time; only where they have been seen to work (they are the machine's own) */
  readonly filterBlock?: FilterBlock;
  /** every level of a net is exactly twice as high and wide as the one below: pictures of other sizes cannot be drawn */
  readonly evenSides?: boolean;
  /**
   * A file to write computed weights (quantised, merged, expanded) to, which the session then maps.
   * Whoever names it removes it, once the session exists or the build has failed.
   * Without it they travel inside the proto, which ends at 2 GiB.
   */
  readonly computedFile?: string;
  /** names of inner values to hand out as extra outputs (see `GraphBuilder.tap`); "all" for every one */
  readonly taps?: readonly string[] | "all";
}
