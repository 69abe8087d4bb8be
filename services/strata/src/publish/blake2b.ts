/**
 * BLAKE2b (RFC 7693) with a digest of any length. Node's crypto has only the 64-byte form, which minisign signs; the checksum inside minisign's secret
 * key files is the 32-byte form, a different function and not a prefix. It sums up about a hundred bytes, so this is written to be read, not to be fast.
 */

const MASK = (1n << 64n) - 1n;
const BLOCK_BYTES = 128;
const ROUNDS = 12;

/** The fractional parts of the square roots of the first eight primes. */
const INITIAL = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
];

/** Which message word each step of a round takes; rounds 10 and 11 repeat 0 and 1. */
const SCHEDULE = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/** The quarters of the state that a round mixes: four columns, then four diagonals. */
const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

export function blake2b(message: Uint8Array, digestBytes: number): Buffer {
  const state = [...INITIAL];
  state[0]! ^= 0x01010000n ^ BigInt(digestBytes);
  const blocks = Math.max(1, Math.ceil(message.length / BLOCK_BYTES));
  for (let block = 0; block < blocks; block++) {
    const padded = Buffer.alloc(BLOCK_BYTES);
    padded.set(message.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES));
    const isLast = block === blocks - 1;
    compress(state, padded, BigInt(isLast ? message.length : (block + 1) * BLOCK_BYTES), isLast);
  }
  const digest = Buffer.alloc(64);
  for (const [at, word] of state.entries()) {
    digest.writeBigUInt64LE(word, at * 8);
  }
  return digest.subarray(0, digestBytes);
}

function compress(state: bigint[], block: Buffer, counted: bigint, isLast: boolean): void {
  const words = Array.from({ length: 16 }, (_, at) => block.readBigUInt64LE(at * 8));
  const v = [...state, ...INITIAL];
  v[12]! ^= counted & MASK;
  v[13]! ^= counted >> 64n;
  if (isLast) {
    v[14]! ^= MASK;
  }
  for (let round = 0; round < ROUNDS; round++) {
    const schedule = SCHEDULE[round % SCHEDULE.length]!;
    for (const [step, quarter] of QUARTERS.entries()) {
      mix(v, quarter, words[schedule[step * 2]!]!, words[schedule[step * 2 + 1]!]!);
    }
  }
  for (let at = 0; at < 8; at++) {
    state[at]! ^= v[at]! ^ v[at + 8]!;
  }
}

function mix(v: bigint[], [a, b, c, d]: readonly [number, number, number, number], x: bigint, y: bigint): void {
  v[a] = (v[a]! + v[b]! + x) & MASK;
  v[d] = rotateRight(v[d]! ^ v[a]!, 32n);
  v[c] = (v[c]! + v[d]!) & MASK;
  v[b] = rotateRight(v[b]! ^ v[c]!, 24n);
  v[a] = (v[a]! + v[b]! + y) & MASK;
  v[d] = rotateRight(v[d]! ^ v[a]!, 16n);
  v[c] = (v[c]! + v[d]!) & MASK;
  v[b] = rotateRight(v[b]! ^ v[c]!, 63n);
}

function rotateRight(word: bigint, bits: bigint): bigint {
  return ((word >> bits) | (word << (64n - bits))) & MASK;
}
