/** A 32-bit seed for try `attempt` at variation `variation` of an order with this seed: far apart even for neighbours, the same everywhere. */
export function mixSeed(seed: number, variation: number, attempt: number): number {
  // Seeds go up to 2^53: both halves count.
  let h = (seed >>> 0) ^ Math.imul(Math.floor(seed / 2 ** 32) >>> 0, 0x85ebca6b);
  for (const part of [variation + 1, attempt + 1]) {
    h = Math.imul(h ^ Math.imul(part, 0x9e3779b1), 0x85ebca6b);
    h ^= h >>> 13;
    h = Math.imul(h, 0xc2b2ae35);
    h ^= h >>> 16;
  }
  return h >>> 0;
}
