/**
 * 3x3 filters to the 2x2 ones that they are for one corner of the pixels of a doubled picture (src/corner-filters.ts).
 * The host keeps the filters and the results in this module's memory.
 */
import { expandAny, loadFour } from "./load-floats";

const LARGE: u32 = 9;

/** `count` filters of halves to float32. `bottom` and `right` say which corner: 0 or 1. Reads three numbers beyond the last filter. */
export function foldHalves(from: usize, count: u32, bottom: u32, right: u32, to: usize): void {
  foldFilters<i16>(from, count, bottom, right, to);
}

/** The same from bfloat16. */
export function foldBfloats(from: usize, count: u32, bottom: u32, right: u32, to: usize): void {
  foldFilters<u16>(from, count, bottom, right, to);
}

/** The same from float32. */
export function foldFloats(from: usize, count: u32, bottom: u32, right: u32, to: usize): void {
  foldFilters<f32>(from, count, bottom, right, to);
}

/** The middle line of a filter falls on the same pixels as its last one at the top, as its first one at the bottom; columns likewise. */
@inline
function foldFilters<T>(from: usize, count: u32, bottom: u32, right: u32, to: usize): void {
  const lower: v128 = bottom ? i32x4.splat(-1) : i32x4.splat(0);
  for (let filter: u32 = 0; filter < count; filter++, from += LARGE * sizeof<T>(), to += 16) {
    // a line each, and the first number of the next
    const first = loadFloats<T>(from);
    const middle = loadFloats<T>(from + 3 * sizeof<T>());
    const last = loadFloats<T>(from + 6 * sizeof<T>());
    const above = f32x4.add(first, v128.and(middle, lower));
    const below = f32x4.add(last, v128.andnot(middle, lower));
    // [above 0, above 2, below 0, below 2] and the middle column, twice each
    const outer = i32x4.shuffle(above, below, 0, 2, 4, 6);
    const inner = i32x4.shuffle(above, below, 1, 1, 5, 5);
    const side = right ? i32x4(-1, 0, -1, 0) : i32x4(0, -1, 0, -1);
    v128.store(to, f32x4.add(outer, v128.and(inner, side)));
  }
}

@inline
function loadFloats<T>(at: usize): v128 {
  const four = loadFour<T>(at);
  return isSigned<T>() && !isFloat<T>() ? expandAny(four) : four;
}
