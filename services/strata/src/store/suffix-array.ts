import { sortByKeys } from "./sort-by-keys.js";

/**
 * The suffix array of NUL-terminated strings laid end to end: the positions of all characters, sorted by the text that
 * begins there and ends at the next NUL. The order of equal suffixes (of different strings) depends on the text alone,
 * so the result is the same on every machine.
 *
 * Built by prefix doubling: no library on npm takes a megabyte-sized Uint8Array, and with strings of some tens of bytes
 * six rounds are enough, which a linear-time construction would not beat by much.
 */
export function buildSuffixArray(text: Uint8Array, longestString: number): Uint32Array {
  let order = sortByFirstBytes(text);
  if (order.length === 0) return order;
  let rank = new Uint32Array(text.length + 1);
  let ranks = rankFirstBytes(text, order, rank);
  for (let sorted = FIRST_BYTES; sorted <= longestString && ranks < text.length; sorted *= 2) {
    order = sortByRankPair(order, rank, sorted);
    const next = new Uint32Array(text.length + 1);
    ranks = rankPairs(order, rank, next, sorted);
    rank = next;
  }
  return dropTerminators(text, order);
}

const FIRST_BYTES = 4;

/** The first bytes of a suffix as a number; what lies behind its terminator counts as zero. */
function firstBytes(text: Uint8Array, at: number): number {
  let key = 0;
  let ended = false;
  for (let i = 0; i < FIRST_BYTES; i++) {
    const byte = ended ? 0 : (text[at + i] ?? 0);
    if (byte === 0) ended = true;
    key = key * 256 + byte;
  }
  return key;
}

function sortByFirstBytes(text: Uint8Array): Uint32Array {
  const keys = new Uint32Array(text.length);
  for (let i = 0; i < text.length; i++) keys[i] = firstBytes(text, i);
  return sortByKeys(text.length, [keys]);
}

function rankFirstBytes(text: Uint8Array, order: Uint32Array, rank: Uint32Array): number {
  let next = 0;
  let previous = -1;
  for (const at of order) {
    const key = firstBytes(text, at);
    if (key !== previous) next++;
    previous = key;
    rank[at] = next;
  }
  return next;
}

/** Rank of the second half. A suffix that ended in its first half was made unequal to longer ones there already. */
function secondRank(rank: Uint32Array, at: number, half: number): number {
  const second = at + half;
  return second < rank.length ? rank[second]! : 0;
}

/** One doubling: the order by the second half is the old order shifted, one counting sort by the first half completes it. */
function sortByRankPair(order: Uint32Array, rank: Uint32Array, half: number): Uint32Array {
  const count = order.length;
  const starts = new Uint32Array(count + 2);
  for (const at of order) starts[rank[at]! + 1]!++;
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
  const result = new Uint32Array(count);
  for (let at = Math.max(0, count - half); at < count; at++) result[starts[rank[at]!]!++] = at;
  for (const second of order) {
    if (second >= half) {
      const at = second - half;
      result[starts[rank[at]!]!++] = at;
    }
  }
  return result;
}

function rankPairs(order: Uint32Array, rank: Uint32Array, next: Uint32Array, half: number): number {
  let count = 0;
  let previousFirst = -1;
  let previousSecond = -1;
  for (const at of order) {
    const first = rank[at]!;
    const second = secondRank(rank, at, half);
    if (first !== previousFirst || second !== previousSecond) count++;
    previousFirst = first;
    previousSecond = second;
    next[at] = count;
  }
  return count;
}

function dropTerminators(text: Uint8Array, order: Uint32Array): Uint32Array {
  return order.filter((at) => text[at] !== 0);
}
