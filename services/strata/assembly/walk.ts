import { at32, entries, entryBits, entryRowStarts, put32, rowEntry, rows, rowVersion, sampleCounts } from "./columns";
import { ANY_VERSION } from "./count";
import { firstLanes, holds, inRange, lanesInRange, nextEntry, sumLanes } from "./entry-set";

/**
 * Finding a page in an order of all rows: the rows of the set (entries of `entryBits`, versions of the range) at the
 * places skip..skip+want among those of the set.
 *
 * `ranges`, where an order has them, are the smallest and the largest version number of each block of places. In the order
 * by version most blocks are all inside or all outside of a range.
 */
const OUTSIDE: u32 = 0;
const INSIDE: u32 = 1;
const MIXED: u32 = 2;

/** Fills `ranges` for a column of version numbers. */
export function summarizeVersions(orderVersions: u32, blockBits: u32, ranges: u32): void {
  for (let start: u32 = 0, to = ranges; start < rows; start += 1 << blockBits, to += 8) {
    const end = min(rows, start + (1 << blockBits));
    let least: u32 = u32.MAX_VALUE;
    let most: u32 = 0;
    for (let i = start; i < end; i++) {
      const version = at32(orderVersions, i);
      least = min(least, version);
      most = max(most, version);
    }
    store<u32>(to, least);
    store<u32>(to, most, 4);
  }
}

@inline
function classify(ranges: u32, block: u32, low: u32, span: u32): u32 {
  if (span == ANY_VERSION) return INSIDE;
  if (ranges == 0) return MIXED;
  const least = load<u32>(ranges + (block << 3));
  const most = load<u32>(ranges + (block << 3), 4);
  const high = low + span;
  if (most < low || least >= high) return OUTSIDE;
  return least >= low && most < high ? INSIDE : MIXED;
}

/** 1 when the place of an order belongs to the set, else 0; no branch, since neither is the usual case. */
@inline
function member(bits: u32, orderEntries: u32, orderVersions: u32, low: u32, span: u32, filtered: bool, i: u32): u32 {
  const bit = holds(bits, at32(orderEntries, i));
  if (!filtered) return bit;
  return bit & inRange(orderVersions, i, low, span);
}

@inline
function countEight(bits: u32, orderEntries: u32, orderVersions: u32, low: u32, span: u32, filtered: bool, i: u32): u32 {
  return (
    member(bits, orderEntries, orderVersions, low, span, filtered, i) +
    member(bits, orderEntries, orderVersions, low, span, filtered, i + 1) +
    member(bits, orderEntries, orderVersions, low, span, filtered, i + 2) +
    member(bits, orderEntries, orderVersions, low, span, filtered, i + 3) +
    member(bits, orderEntries, orderVersions, low, span, filtered, i + 4) +
    member(bits, orderEntries, orderVersions, low, span, filtered, i + 5) +
    member(bits, orderEntries, orderVersions, low, span, filtered, i + 6) +
    member(bits, orderEntries, orderVersions, low, span, filtered, i + 7)
  );
}

/** Walks an order forwards from `from` up to `to`. Returns how many rows were put into the page. */
export function walkForwards(
  orderRows: u32,
  orderEntries: u32,
  orderVersions: u32,
  ranges: u32,
  blockBits: u32,
  low: u32,
  span: u32,
  from: u32,
  to: u32,
  skip: u32,
  want: u32,
  page: u32,
): u32 {
  const bits = entryBits;
  let found: u32 = 0;
  let i = from;
  while (i < to && found < want) {
    const block = i >> blockBits;
    const end = min(to, (block + 1) << blockBits);
    const kind = classify(ranges, block, low, span);
    if (kind == OUTSIDE) {
      i = end;
      continue;
    }
    if (kind == INSIDE) {
      for (; i + 8 <= end && skip >= 8; i += 8) {
        skip -= countEight(bits, orderEntries, orderVersions, low, span, false, i);
      }
    } else {
      for (; i + 8 <= end && skip >= 8; i += 8) {
        skip -= countEight(bits, orderEntries, orderVersions, low, span, true, i);
      }
    }
    for (; i < end && found < want; i++) {
      if (member(bits, orderEntries, orderVersions, low, span, kind == MIXED, i) == 0) continue;
      if (skip > 0) skip--;
      else put32(page, found++, at32(orderRows, i));
    }
  }
  return found;
}

/** The same backwards from the end of the order; the page is filled in walking order, last row first. */
export function walkBackwards(
  orderRows: u32,
  orderEntries: u32,
  orderVersions: u32,
  ranges: u32,
  blockBits: u32,
  low: u32,
  span: u32,
  skip: u32,
  want: u32,
  page: u32,
): u32 {
  const bits = entryBits;
  let found: u32 = 0;
  let i = rows;
  while (i > 0 && found < want) {
    const block = (i - 1) >> blockBits;
    const end = block << blockBits;
    const kind = classify(ranges, block, low, span);
    if (kind == OUTSIDE) {
      i = end;
      continue;
    }
    if (kind == INSIDE) {
      while (i >= end + 8 && skip >= 8) {
        i -= 8;
        skip -= countEight(bits, orderEntries, orderVersions, low, span, false, i);
      }
    } else {
      while (i >= end + 8 && skip >= 8) {
        i -= 8;
        skip -= countEight(bits, orderEntries, orderVersions, low, span, true, i);
      }
    }
    while (i > end && found < want) {
      i--;
      if (member(bits, orderEntries, orderVersions, low, span, kind == MIXED, i) == 0) continue;
      if (skip > 0) skip--;
      else put32(page, found++, at32(orderRows, i));
    }
  }
  return found;
}

/** A sample is sorted into so many parts of an order. */
const SAMPLE_PARTS_BITS: u32 = 10;

/**
 * Guesses from every `every`-th row where in an order the set's row number `skip` of `total` lies. Any guess is right: it
 * only decides how far the walk from there is.
 */
export function guessPlace(orderRanks: u32, low: u32, span: u32, every: u32, skip: u32, total: u32): u32 {
  const counts = sampleCounts;
  memory.fill(counts, 0, 4 << SAMPLE_PARTS_BITS);
  const rowBits: u32 = 32 - <u32>clz(rows);
  const shift = rowBits > SAMPLE_PARTS_BITS ? rowBits - SAMPLE_PARTS_BITS : 0;
  let sampled: u32 = 0;
  for (let row = every >> 1; row < rows; row += every) {
    let bit = holds(entryBits, at32(rowEntry, row));
    if (span != ANY_VERSION) bit &= inRange(rowVersion, row, low, span);
    const at = counts + ((at32(orderRanks, row) >> shift) << 2);
    store<u32>(at, load<u32>(at) + bit);
    sampled += bit;
  }
  const before = <u32>((<u64>skip * <u64>sampled) / <u64>total);
  let sum: u32 = 0;
  let part: u32 = 0;
  for (; part << shift < rows; part++) {
    sum += at32(counts, part);
    if (sum > before) break;
  }
  return min(rows, part << shift);
}

/**
 * Counts the rows of the set that lie before a place of an order: a comparison for each row, four at a time. With
 * `others` the rows of all other entries are read and the rest is the set; a filter has no others.
 */
export function countBefore(orderRanks: u32, low: u32, span: u32, others: bool, place: u32): u32 {
  const places = i32x4.splat(place);
  const lows = i32x4.splat(low);
  const spans = i32x4.splat(span);
  const versions = rowVersion;
  const bits = entryBits;
  const flip: u64 = others ? ~(<u64>0) : 0;
  let sums = i32x4.splat(0);
  let entry = nextEntry(bits, 0, flip);
  while (entry < entries) {
    const after = nextEntry(bits, entry, ~flip);
    const end = at32(entryRowStarts, after);
    let row = at32(entryRowStarts, entry);
    if (span == ANY_VERSION) {
      for (; row + 4 <= end; row += 4) {
        sums = v128.sub<i32>(sums, v128.lt<u32>(v128.load(orderRanks + (row << 2)), places));
      }
    } else {
      for (; row + 4 <= end; row += 4) {
        const before = v128.lt<u32>(v128.load(orderRanks + (row << 2)), places);
        sums = v128.sub<i32>(sums, v128.and(before, lanesInRange(versions, row, lows, spans)));
      }
    }
    let rest = v128.and(v128.lt<u32>(v128.load(orderRanks + (row << 2)), places), firstLanes(end - row));
    if (span != ANY_VERSION) rest = v128.and(rest, lanesInRange(versions, row, lows, spans));
    sums = v128.sub<i32>(sums, rest);
    entry = nextEntry(bits, after, flip);
  }
  const count = sumLanes(sums);
  return others ? place - count : count;
}

/** Walks from a place with a known number of the set's rows before it, backwards as far as needed, then forwards. */
export function walkFrom(
  orderRows: u32,
  orderEntries: u32,
  orderVersions: u32,
  low: u32,
  span: u32,
  place: u32,
  before: u32,
  skip: u32,
  want: u32,
  page: u32,
): u32 {
  const bits = entryBits;
  const filtered = span != ANY_VERSION;
  while (before > skip) {
    place--;
    before -= member(bits, orderEntries, orderVersions, low, span, filtered, place);
  }
  return walkForwards(
    orderRows,
    orderEntries,
    orderVersions,
    0,
    ALL_BITS,
    low,
    span,
    place,
    rows,
    skip - before,
    want,
    page,
  );
}

/** Blocks larger than any index: all places are one. */
const ALL_BITS: u32 = 31;
