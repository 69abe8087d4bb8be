/** Filters of convolutions in the order of onnxruntime's blocked (NCHWc) kernels. */

/** Channels that a blocked kernel takes at a time: as many floats as a vector register holds. */
export type FilterBlock = 8 | 16;

/** `block` filters [block, inputs, taps] to [inputs / block, taps, block inputs, block outputs]. */
export function blockFilters(
  filters: Float32Array,
  inputs: number,
  taps: number,
  block: FilterBlock,
  blocked: Float32Array,
): void {
  const size = inputs * taps;
  let to = 0;
  for (let first = 0; first < inputs; first += block) {
    for (let tap = 0; tap < taps; tap++) {
      for (let input = first; input < first + block; input++) {
        // four at a time: halves the time of this loop, through which every weight of a model passes
        for (let output = 0, from = input * taps + tap; output < block; output += 4, from += 4 * size, to += 4) {
          blocked[to] = filters[from]!;
          blocked[to + 1] = filters[from + size]!;
          blocked[to + 2] = filters[from + 2 * size]!;
          blocked[to + 3] = filters[from + 3 * size]!;
        }
      }
    }
  }
}
