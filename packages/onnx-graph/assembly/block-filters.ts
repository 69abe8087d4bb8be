/**
 * Filters of convolutions to float32 in the order of onnxruntime's blocked (NCHWc) kernels, four numbers at a time. Every convolution's weights pass through here
 * when a model is loaded. The host keeps the filters and the results in this module's memory.
 */
import { expandAny, expandNormal, isSpecial, loadFour } from "./load-floats";

/** `block` filters of halves, [block, inputs, taps], whose rows lie `stride` bytes apart, to [inputs / block, taps, block inputs, block outputs]. */
export function blockHalves(from: usize, stride: usize, inputs: u32, taps: u32, block: u32, to: usize): void {
  blockRows<i16>(from, stride, inputs, taps, block, to);
}

/** The same from bfloat16. */
export function blockBfloats(from: usize, stride: usize, inputs: u32, taps: u32, block: u32, to: usize): void {
  blockRows<u16>(from, stride, inputs, taps, block, to);
}

/** The same from float32. */
export function blockFloats(from: usize, stride: usize, inputs: u32, taps: u32, block: u32, to: usize): void {
  blockRows<f32>(from, stride, inputs, taps, block, to);
}

@inline
function blockRows<T>(from: usize, stride: usize, inputs: u32, taps: u32, block: u32, to: usize): void {
  const lineBytes: usize = block << 2;
  const tapBytes: usize = lineBytes * block;
  const groupBytes: usize = tapBytes * taps;
  for (let first: u32 = 0; first < inputs; first += block, to += groupBytes) {
    for (let output: u32 = 0; output < block; output += 4) {
      let row = from + stride * output + first * taps * sizeof<T>();
      const end = row + block * taps * sizeof<T>();
      let tap: u32 = 0;
      let line = to + (output << 2);
      let place = line;
      while (row < end) {
        let a = loadFour<T>(row);
        let b = loadFour<T>(row + stride);
        let c = loadFour<T>(row + 2 * stride);
        let d = loadFour<T>(row + 3 * stride);
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
        const ab = i32x4.shuffle(a, b, 0, 4, 1, 5);
        const cd = i32x4.shuffle(c, d, 0, 4, 1, 5);
        const abHigh = i32x4.shuffle(a, b, 2, 6, 3, 7);
        const cdHigh = i32x4.shuffle(c, d, 2, 6, 3, 7);
        // a line holds one input of one tap; the file counts taps first
        v128.store(place, i64x2.shuffle(ab, cd, 0, 2));
        place += tapBytes;
        if (++tap == taps) { tap = 0; line += lineBytes; place = line; }
        v128.store(place, i64x2.shuffle(ab, cd, 1, 3));
        place += tapBytes;
        if (++tap == taps) { tap = 0; line += lineBytes; place = line; }
        v128.store(place, i64x2.shuffle(abHigh, cdHigh, 0, 2));
        place += tapBytes;
        if (++tap == taps) { tap = 0; line += lineBytes; place = line; }
        v128.store(place, i64x2.shuffle(abHigh, cdHigh, 1, 3));
        place += tapBytes;
        if (++tap == taps) { tap = 0; line += lineBytes; place = line; }
        row += 4 * sizeof<T>();
      }
    }
  }
}
