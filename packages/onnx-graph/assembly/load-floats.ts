/** Four numbers of any type that files hold, as float32. */

const SIGN: i32 = 0x80000000;
const MAGNITUDE: i32 = 0x7fff;
/** From a half's place to a float's. */
const FRACTION_SHIFT: i32 = 13;
/** Sign, exponent and fraction of a half that was extended by its sign and moved to a float's place. */
const IN_PLACE: i32 = 0x8fffe000;
/** One in a float's exponent. */
const EXPONENT_ONE: i32 = 1 << 23;
/** What a float's exponent counts more than a half's. */
const EXPONENT_DIFFERENCE: i32 = 112 << 23;
/** The largest finite half in a float's place. */
const LARGEST: i32 = 0x7bff << FRACTION_SHIFT;
const INFINITY_BITS: i32 = 0x7f800000;

/** Four numbers as float32; halves are only extended by their sign. */
@inline
export function loadFour<T>(at: usize): v128 {
  if (isFloat<T>()) return v128.load(at);
  if (isSigned<T>()) return v128.load_ext<i16>(at);
  return i32x4.shl(v128.load_ext<u16>(at), 16);
}

/** All ones for zeros, halves without a leading one, infinities and NaN: those whose exponent is all zeros or all ones. */
@inline
export function isSpecial(words: v128): v128 {
  return i32x4.eq(v128.and(i32x4.add(words, i32x4.splat(0x0400)), i32x4.splat(0x7800)), i32x4.splat(0));
}

@inline
export function expandNormal(words: v128): v128 {
  const placed = v128.and(i32x4.shl(words, FRACTION_SHIFT), i32x4.splat(IN_PLACE));
  return i32x4.add(placed, i32x4.splat(EXPONENT_DIFFERENCE));
}

@inline
export function expandAny(words: v128): v128 {
  const magnitude = i32x4.shl(v128.and(words, i32x4.splat(MAGNITUDE)), FRACTION_SHIFT);
  // without a leading one: counted as if it had one, which is then taken off again
  const small = i32x4.lt_s(magnitude, i32x4.splat(EXPONENT_ONE));
  const lifted = i32x4.add(
    i32x4.add(magnitude, i32x4.splat(EXPONENT_DIFFERENCE)),
    v128.and(small, i32x4.splat(EXPONENT_ONE)),
  );
  const finite = f32x4.sub(lifted, v128.and(small, i32x4.splat(EXPONENT_DIFFERENCE + EXPONENT_ONE)));
  const infinite = v128.and(i32x4.gt_s(magnitude, i32x4.splat(LARGEST)), i32x4.splat(INFINITY_BITS));
  return v128.or(v128.or(finite, infinite), v128.and(words, i32x4.splat(SIGN)));
}
