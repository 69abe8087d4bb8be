/**
 * Weights of linear layers and convolutions to signed bytes with a scale for each output, in the order of onnxruntime's integer products: [taps, inputs, outputs].
 * The host keeps the weights and the results in this module's memory.
 */
import { expandAny, expandNormal, isSpecial, loadFour } from "./load-floats";

/** The largest byte; -128 is left out, so that the range is even. */
const LARGEST: f32 = 127;
/** Outputs taken at a time: the bytes of a vector register. */
const ROWS: u32 = 16;
/** Columns for which all rows are taken before the next ones: what is written then still lies in the core's first-level cache when its neighbours follow. */
const COLUMNS: u32 = 64;

/**
 * `rows` outputs of halves, [rows, inputs, taps], both a multiple of 16, to columns of a matrix whose lines are `stride` bytes long;
 * their scales, a float each, go to `scales`.
 */
export function roundHalves(from: usize, rows: u32, inputs: u32, taps: u32, scales: usize, to: usize, stride: usize): void {
  roundRows<i16>(from, rows, inputs, taps, scales, to, stride);
}

/** The same from bfloat16. */
export function roundBfloats(from: usize, rows: u32, inputs: u32, taps: u32, scales: usize, to: usize, stride: usize): void {
  roundRows<u16>(from, rows, inputs, taps, scales, to, stride);
}

/** The same from float32. */
export function roundFloats(from: usize, rows: u32, inputs: u32, taps: u32, scales: usize, to: usize, stride: usize): void {
  roundRows<f32>(from, rows, inputs, taps, scales, to, stride);
}

@inline
function roundRows<T>(from: usize, rows: u32, inputs: u32, taps: u32, scales: usize, to: usize, stride: usize): void {
  const columns = inputs * taps;
  const rowBytes: usize = columns * sizeof<T>();
  for (let row: u32 = 0; row < rows; row++) {
    store<f32>(scales + (row << 2), largestOf<T>(from + row * rowBytes, columns) / LARGEST);
  }
  for (let first: u32 = 0; first < columns; first += COLUMNS) {
    const end = min(first + COLUMNS, columns);
    for (let row: u32 = 0; row < rows; row += ROWS) {
      let tap = first % taps;
      let input = first / taps;
      for (let column = first; column < end; column += 4) {
        const at = from + row * rowBytes + column * sizeof<T>();
        const a = roundFour<T>(at, rowBytes, scales + (row << 2));
        const b = roundFour<T>(at + 4 * rowBytes, rowBytes, scales + (row << 2) + 16);
        const c = roundFour<T>(at + 8 * rowBytes, rowBytes, scales + (row << 2) + 32);
        const d = roundFour<T>(at + 12 * rowBytes, rowBytes, scales + (row << 2) + 48);
        const ab = i32x4.shuffle(a, b, 0, 4, 1, 5);
        const cd = i32x4.shuffle(c, d, 0, 4, 1, 5);
        const abHigh = i32x4.shuffle(a, b, 2, 6, 3, 7);
        const cdHigh = i32x4.shuffle(c, d, 2, 6, 3, 7);
        // a line holds one input of one tap; the file counts taps first
        v128.store(to + (tap * inputs + input) * stride + row, i64x2.shuffle(ab, cd, 0, 2));
        if (++tap == taps) { tap = 0; input++; }
        v128.store(to + (tap * inputs + input) * stride + row, i64x2.shuffle(ab, cd, 1, 3));
        if (++tap == taps) { tap = 0; input++; }
        v128.store(to + (tap * inputs + input) * stride + row, i64x2.shuffle(abHigh, cdHigh, 0, 2));
        if (++tap == taps) { tap = 0; input++; }
        v128.store(to + (tap * inputs + input) * stride + row, i64x2.shuffle(abHigh, cdHigh, 1, 3));
        if (++tap == taps) { tap = 0; input++; }
      }
    }
  }
}

/** The largest magnitude of a row. Without its sign a float's bits grow with its size, so they are compared as integers. */
@inline
function largestOf<T>(from: usize, count: u32): f32 {
  const end = from + count * sizeof<T>();
  let largest = i32x4.splat(0);
  if (isFloat<T>()) {
    for (; from < end; from += 16) {
      largest = i32x4.max_s(largest, v128.and(v128.load(from), i32x4.splat(0x7fffffff)));
    }
  } else {
    for (; from < end; from += 16) {
      largest = i16x8.max_s(largest, v128.and(v128.load(from), i16x8.splat(0x7fff)));
    }
    largest = i32x4.max_s(i32x4.extend_low_i16x8_s(largest), i32x4.extend_high_i16x8_s(largest));
    largest = isSigned<T>() ? expandAny(largest) : i32x4.shl(largest, 16);
  }
  // as floats again; none is negative
  return max(
    max(f32x4.extract_lane(largest, 0), f32x4.extract_lane(largest, 1)),
    max(f32x4.extract_lane(largest, 2), f32x4.extract_lane(largest, 3)),
  );
}

/** Four columns of four rows, divided by the rows' scales: the bytes of column 0 first. */
@inline
function roundFour<T>(at: usize, rowBytes: usize, scales: usize): v128 {
  let a = loadFour<T>(at);
  let b = loadFour<T>(at + rowBytes);
  let c = loadFour<T>(at + 2 * rowBytes);
  let d = loadFour<T>(at + 3 * rowBytes);
  if (isSigned<T>() && !isFloat<T>()) {
    if (v128.any_true(v128.or(v128.or(isSpecial(a), isSpecial(b)), v128.or(isSpecial(c), isSpecial(d))))) {
      a = expandAny(a);
      b = expandAny(b);
      c = expandAny(c);
      d = expandAny(d);
    } else {
      a = expandNormal(a);
      b = expandNormal(b);
      c = expandNormal(c);
      d = expandNormal(d);
    }
  }
  // a row of zeros has the scale 0: 0 / 0 is no number, which becomes 0
  const ab = i16x8.narrow_i32x4_s(divideAndRound(a, scales), divideAndRound(b, scales + 4));
  const cd = i16x8.narrow_i32x4_s(divideAndRound(c, scales + 8), divideAndRound(d, scales + 12));
  const bytes = i8x16.narrow_i16x8_s(ab, cd);
  return i8x16.shuffle(bytes, bytes, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
}

@inline
function divideAndRound(numbers: v128, scale: usize): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.div(numbers, v128.load_splat<f32>(scale))));
}
