/**
 * The suffix array of a text: the positions of all its bytes, sorted by the text that begins there.
 *
 * Built in linear time by induced sorting (SA-IS). A position is S when its suffix is smaller than the next one and L when
 * it is larger; an S position right after an L position is *leftmost*. Sorting the leftmost suffixes sorts all others in
 * two sweeps, and they are at most half as many, so the same is done with them as letters of a shorter text.
 */
export function buildSuffixArray(text: Uint8Array): Uint32Array {
  const sorted = sortSuffixes(text, 255);
  return new Uint32Array(sorted.buffer, sorted.byteOffset, sorted.length);
}

type Letters = Uint8Array | Int32Array;
const NONE = -1;

/** Letters are 0..largest. The end of the text counts as smaller than every letter. */
function sortSuffixes(text: Letters, largest: number): Int32Array {
  const isSmaller = classifyPositions(text);
  const buckets = countBuckets(text, isSmaller, largest);
  const leftmost = listLeftmost(isSmaller);
  const roughly = induceOrder(text, isSmaller, buckets, leftmost);
  if (leftmost.length === 0) return roughly;
  return induceOrder(text, isSmaller, buckets, sortLeftmost(text, leftmost, roughly));
}

/** 1 for S positions. */
function classifyPositions(text: Letters): Uint8Array {
  const isSmaller = new Uint8Array(text.length);
  for (let at = text.length - 2; at >= 0; at--) {
    const [letter, next] = [text[at]!, text[at + 1]!];
    isSmaller[at] = letter < next || (letter === next && isSmaller[at + 1] === 1) ? 1 : 0;
  }
  return isSmaller;
}

function listLeftmost(isSmaller: Uint8Array): Int32Array {
  const positions = new Int32Array((isSmaller.length >> 1) + 1);
  let count = 0;
  for (let at = 1; at < isSmaller.length; at++) {
    if (isSmaller[at] === 1 && isSmaller[at - 1] === 0) positions[count++] = at;
  }
  return positions.subarray(0, count);
}

/** By letter: where the suffixes that begin with it start, and where its S suffixes do, behind the L ones. */
interface Buckets {
  readonly starts: Int32Array;
  readonly smallerStarts: Int32Array;
}

function countBuckets(text: Letters, isSmaller: Uint8Array, largest: number): Buckets {
  const starts = new Int32Array(largest + 2);
  const smallerStarts = new Int32Array(largest + 2);
  for (let at = 0; at < text.length; at++) {
    starts[text[at]! + 1]!++;
    if (isSmaller[at] === 0) smallerStarts[text[at]!]!++;
  }
  for (let letter = 0; letter <= largest; letter++) {
    starts[letter + 1]! += starts[letter]!;
    smallerStarts[letter]! += starts[letter]!;
  }
  return { starts, smallerStarts };
}

/** Orders all suffixes, given an order of the leftmost ones: exactly, or up to the next leftmost position when it is arbitrary. */
function induceOrder(text: Letters, isSmaller: Uint8Array, buckets: Buckets, leftmost: Int32Array): Int32Array {
  const count = text.length;
  const sorted = new Int32Array(count).fill(NONE);
  if (count === 0) return sorted;
  const seeds = buckets.smallerStarts.slice();
  for (let i = 0; i < leftmost.length; i++) sorted[seeds[text[leftmost[i]!]!]!++] = leftmost[i]!;
  const heads = buckets.starts.slice();
  sorted[heads[text[count - 1]!]!++] = count - 1;
  for (let i = 0; i < count; i++) {
    const at = sorted[i]! - 1;
    if (at >= 0 && isSmaller[at] === 0) sorted[heads[text[at]!]!++] = at;
  }
  const tails = buckets.starts.slice();
  for (let i = count - 1; i >= 0; i--) {
    const at = sorted[i]! - 1;
    if (at >= 0 && isSmaller[at] === 1) sorted[--tails[text[at]! + 1]!] = at;
  }
  return sorted;
}

/** The leftmost suffixes in order, from an order in which those with equal pieces are neighbours. */
function sortLeftmost(text: Letters, leftmost: Int32Array, roughly: Int32Array): Int32Array {
  const count = leftmost.length;
  const numberAt = new Int32Array(text.length).fill(NONE);
  for (let i = 0; i < count; i++) numberAt[leftmost[i]!] = i;
  // A piece goes from one leftmost position to the next; equal pieces become one letter.
  const pieces = new Int32Array(count);
  let letter = NONE;
  let previous = NONE;
  for (let i = 0; i < roughly.length; i++) {
    const number = numberAt[roughly[i]!]!;
    if (number === NONE) continue;
    if (previous === NONE || !isSamePiece(text, leftmost, previous, number)) letter++;
    pieces[number] = letter;
    previous = number;
  }
  const order = letter + 1 === count ? invert(pieces) : sortSuffixes(pieces, letter);
  return order.map((number) => leftmost[number]!);
}

/** Whether two pieces, their closing positions included, are spelled alike; the one that ends the text is like no other. */
function isSamePiece(text: Letters, leftmost: Int32Array, first: number, second: number): boolean {
  if (first === leftmost.length - 1 || second === leftmost.length - 1) return false;
  const [a, b] = [leftmost[first]!, leftmost[second]!];
  const length = leftmost[first + 1]! - a;
  if (leftmost[second + 1]! - b !== length) return false;
  for (let i = 0; i <= length; i++) if (text[a + i] !== text[b + i]) return false;
  return true;
}

function invert(order: Int32Array): Int32Array {
  const inverse = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) inverse[order[i]!] = i;
  return inverse;
}
