/** Conversions between 16-bit floats and Float32, in bulk. Written here because Node 20 has no Float16Array. */

let halfTable: Float32Array | undefined;

/** All 65,536 half values once: a table look-up is several times faster than bit arithmetic in JavaScript. */
function halves(): Float32Array {
  if (halfTable === undefined) {
    halfTable = new Float32Array(65536);
    for (let bits = 0; bits < 65536; bits++) halfTable[bits] = decodeHalf(bits);
  }
  return halfTable;
}

function decodeHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

export function halfToFloat(bits: number): number {
  return halves()[bits & 0xffff]!;
}

export function halvesToFloats(bits: Uint16Array): Float32Array {
  const floats = new Float32Array(bits.length);
  expandHalves(bits, floats);
  return floats;
}

/** The same into memory that is there already. */
export function expandHalves(bits: Uint16Array, floats: Float32Array): void {
  const table = halves();
  for (let i = 0; i < bits.length; i++) floats[i] = table[bits[i]!]!;
}

export function bfloatsToFloats(bits: Uint16Array): Float32Array {
  const floats = new Float32Array(bits.length);
  expandBfloats(bits, floats);
  return floats;
}

export function expandBfloats(bits: Uint16Array, floats: Float32Array): void {
  const words = new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
  for (let i = 0; i < bits.length; i++) words[i] = bits[i]! << 16;
}

const oneFloat = new Float32Array(1);
const oneWord = new Uint32Array(oneFloat.buffer);

/** Rounds to the nearest half, ties to even; what is too large becomes infinity. */
export function floatToHalf(value: number): number {
  oneFloat[0] = value;
  const word = oneWord[0]!;
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude >= 0x38800000) {
    const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
    return sign | ((rounded - 0x38000000) >>> 13);
  }
  const shift = 126 - (magnitude >>> 23);
  if (shift > 24) return sign;
  const mantissa = (magnitude & 0x7fffff) | 0x800000;
  const half = mantissa >>> shift;
  const rest = mantissa & ((1 << shift) - 1);
  const middle = 1 << (shift - 1);
  return sign | (half + (rest > middle || (rest === middle && (half & 1) === 1) ? 1 : 0));
}

export function floatsToHalves(floats: Float32Array): Uint16Array {
  const bits = new Uint16Array(floats.length);
  for (let i = 0; i < floats.length; i++) bits[i] = floatToHalf(floats[i]!);
  return bits;
}
