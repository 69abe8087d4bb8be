/**
 * Seeded noise, defined here and nowhere else, so that a seed means the same picture on every machine and backend.
 *
 * Bits: Philox 4x32 with 10 rounds (Salmon et al. 2011). Key = the seed's low 32 bits and its remaining 21 bits; counter =
 * (block, 0, stream, 0). A stream is one use of the seed (the starting latents, the noise of step 3 ...), so drawing more in one
 * place never shifts another. Block b gives four words: two pairs, each pair two normal values.
 *
 * Normals: Box-Muller. u = (word0 + 0.5) / 2^32, angle = word1 / 2^32 of a turn; sqrt(-2 ln u) * (cos, sin).
 * The logarithm and the circle functions are written out below with + - * / and sqrt only: those are exact to the last bit in
 * every JavaScript engine, Math.log and Math.cos are not. The double result is rounded to F32.
 */

const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;
const ROUNDS = 10;
const TWO_32 = 2 ** 32;
const LARGEST_SEED = Number.MAX_SAFE_INTEGER;

/** What a seed is drawn from for; the numbers are part of the definition. Step noise uses FIRST_STEP + step index. */
export const NOISE_STREAMS = { latents: 0, firstStep: 16 } as const;

/** `count` normal values of one stream of a seed. */
export function drawNoise(seed: number, stream: number, count: number): Float32Array {
  if (!Number.isInteger(seed) || seed < 0 || seed > LARGEST_SEED) {
    throw new RangeError(`seed = ${seed} is not an integer from 0 to ${LARGEST_SEED}`);
  }
  const result = new Float32Array(count);
  const words = new Uint32Array(4);
  for (let block = 0; block * 4 < count; block++) {
    philox(words, block, stream, seed % TWO_32, Math.floor(seed / TWO_32));
    for (let pair = 0; pair < 2; pair++) {
      const radius = Math.sqrt(-2 * naturalLogarithm((words[pair * 2]! + 0.5) / TWO_32));
      const [cosine, sine] = turn(words[pair * 2 + 1]! / TWO_32);
      const at = block * 4 + pair * 2;
      if (at < count) result[at] = radius * cosine;
      if (at + 1 < count) result[at + 1] = radius * sine;
    }
  }
  return result;
}

/** Ten rounds of Philox 4x32 on the counter (block, 0, stream, 0). */
export function philox(words: Uint32Array, block: number, stream: number, keyLow: number, keyHigh: number): void {
  let [c0, c1, c2, c3] = [block, 0, stream, 0];
  let [k0, k1] = [keyLow, keyHigh];
  for (let round = 0; round < ROUNDS; round++) {
    const high0 = multiplyHigh(MULTIPLIER_0, c0);
    const low0 = Math.imul(MULTIPLIER_0, c0) >>> 0;
    const high1 = multiplyHigh(MULTIPLIER_1, c2);
    const low1 = Math.imul(MULTIPLIER_1, c2) >>> 0;
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0];
    k0 = (k0 + WEYL_0) >>> 0;
    k1 = (k1 + WEYL_1) >>> 0;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

/** High 32 bits of the 64-bit product, by 16-bit halves so that every intermediate is exact. */
function multiplyHigh(a: number, b: number): number {
  const [aLow, aHigh] = [a & 0xffff, a >>> 16];
  const [bLow, bHigh] = [b & 0xffff, b >>> 16];
  const middle = aHigh * bLow + Math.floor((aLow * bLow) / 0x10000);
  const carry = Math.floor(middle / 0x10000) + Math.floor((aLow * bHigh + (middle % 0x10000)) / 0x10000);
  return (aHigh * bHigh + carry) >>> 0;
}

/** (sqrt 2 - 1)^2 to this power is below 2^-53: more terms change nothing. */
const LOGARITHM_TERMS = 11;

/** ln of a value in (0, 1]: the exponent apart, then 2 artanh((m-1)/(m+1)) as a series. */
function naturalLogarithm(value: number): number {
  let mantissa = value;
  let exponent = 0;
  while (mantissa < Math.SQRT1_2) {
    mantissa *= 2;
    exponent--;
  }
  const s = (mantissa - 1) / (mantissa + 1);
  const square = s * s;
  let sum = 0;
  for (let k = LOGARITHM_TERMS; k >= 0; k--) sum = sum * square + 1 / (2 * k + 1);
  return exponent * Math.LN2 + 2 * s * sum;
}

const TWO_PI = 6.283185307179586;

/** cos and sin of a fraction of a turn: exact reduction to an eighth, then Taylor series (error below 2^-53). */
function turn(fraction: number): readonly [number, number] {
  const quarter = Math.floor(fraction * 4 + 0.5);
  const rest = fraction - quarter / 4;
  const angle = rest * TWO_PI;
  const square = angle * angle;
  let cosine = 1;
  let sine = 1;
  for (let k = 9; k >= 1; k--) {
    cosine = 1 - (square * cosine) / ((2 * k - 1) * (2 * k));
    sine = 1 - (square * sine) / (2 * k * (2 * k + 1));
  }
  sine *= angle;
  if (quarter === 1) return [-sine, cosine];
  if (quarter === 2) return [-cosine, -sine];
  if (quarter === 3) return [sine, -cosine];
  return [cosine, sine];
}
