import {
  at8,
  at32,
  entryRowStarts,
  entryShape,
  pageRows,
  put32,
  rankBits,
  rows,
  rowVersion,
  shapeCounts,
  versionEntries,
  versionRows,
} from "./columns";

/**
 * Counting and choosing rows. A set of rows is given by the tiers of its entries (`tier` 0 stands for any but none) and a
 * range of version numbers, `low` and `span`; a span of 2^32-1 is no filter.
 */
const ANY_VERSION: u32 = 0xffff_ffff;

// @ts-ignore: decorators are AssemblyScript's
@inline
function wanted(found: u32, tier: u32): bool {
  return tier == 0 ? found != 0 : found == tier;
}

/** Rows of each tier (seven counters) among the rows of versions first..last of the version-grouped order. */
export function countByVersions(entryTier: u32, first: u32, last: u32, tierRows: u32): void {
  // Four sets of counters in turn: one set would wait for its own last store at every step.
  const counters = shapeCounts;
  memory.fill(counters, 0, 4 * 32);
  const entries = versionEntries;
  let i = first;
  for (; i + 4 <= last; i += 4) {
    const a = counters + (at8(entryTier, at32(entries, i)) << 2);
    store<u32>(a, load<u32>(a) + 1);
    const b = counters + (at8(entryTier, at32(entries, i + 1)) << 2);
    store<u32>(b, load<u32>(b, 32) + 1, 32);
    const c = counters + (at8(entryTier, at32(entries, i + 2)) << 2);
    store<u32>(c, load<u32>(c, 64) + 1, 64);
    const d = counters + (at8(entryTier, at32(entries, i + 3)) << 2);
    store<u32>(d, load<u32>(d, 96) + 1, 96);
  }
  for (; i < last; i++) {
    const a = counters + (at8(entryTier, at32(entries, i)) << 2);
    store<u32>(a, load<u32>(a) + 1);
  }
  for (let tier: u32 = 0; tier < 7; tier++) {
    const at = counters + (tier << 2);
    put32(tierRows, tier, load<u32>(at) + load<u32>(at, 32) + load<u32>(at, 64) + load<u32>(at, 96));
  }
  put32(tierRows, 0, 0);
}

/** The same, by reading the versions of the entries' rows. */
export function countByEntries(entryTier: u32, entryList: u32, count: u32, low: u32, span: u32, tierRows: u32): void {
  memory.fill(tierRows, 0, 7 * 4);
  for (let i: u32 = 0; i < count; i++) {
    const entry = at32(entryList, i);
    const tier = at8(entryTier, entry);
    put32(tierRows, tier, at32(tierRows, tier) + countVersions(entry, low, span));
  }
}

/** How many rows of an entry have a version in the range. */
function countVersions(entry: u32, low: u32, span: u32): u32 {
  const end = at32(entryRowStarts, entry + 1);
  let row = at32(entryRowStarts, entry);
  if (span == ANY_VERSION) return end - row;
  let count: u32 = 0;
  const versions = rowVersion;
  if (end - row >= 8) {
    const lows = i32x4.splat(low);
    const spans = i32x4.splat(span);
    let sums = i32x4.splat(0);
    for (; row + 4 <= end; row += 4) {
      const offsets = v128.sub<i32>(v128.load(versions + (row << 2)), lows);
      sums = v128.sub<i32>(sums, v128.lt<u32>(offsets, spans));
    }
    count =
      i32x4.extract_lane(sums, 0) +
      i32x4.extract_lane(sums, 1) +
      i32x4.extract_lane(sums, 2) +
      i32x4.extract_lane(sums, 3);
  }
  for (; row < end; row++) count += <u32>(at32(versions, row) - low < span);
  return count;
}

/**
 * Walks an order forwards from `from` (up to `to`), skips `skip` rows of the set and puts the next `want` into `pageRows`.
 * Returns how many were put there.
 */
export function walkForwards(
  orderRows: u32,
  orderEntries: u32,
  orderVersions: u32,
  entryTier: u32,
  tier: u32,
  low: u32,
  span: u32,
  from: u32,
  to: u32,
  skip: u32,
  want: u32,
  page: u32,
): u32 {
  let i = from;
  if (span == ANY_VERSION && tier == 0) {
    while (i + 8 <= to && skip >= 8) {
      skip -= countEight(orderEntries, entryTier, i);
      i += 8;
    }
  }
  let found: u32 = 0;
  for (; i < to && found < want; i++) {
    if (!wanted(at8(entryTier, at32(orderEntries, i)), tier)) continue;
    if (span != ANY_VERSION && at32(orderVersions, i) - low >= span) continue;
    if (skip > 0) skip--;
    else put32(page, found++, at32(orderRows, i));
  }
  return found;
}

/** Of eight places in an order: how many belong to the set of all tiers. */
// @ts-ignore: decorators are AssemblyScript's
@inline
function countEight(orderEntries: u32, entryTier: u32, i: u32): u32 {
  return (
    <u32>(at8(entryTier, at32(orderEntries, i)) != 0) +
    <u32>(at8(entryTier, at32(orderEntries, i + 1)) != 0) +
    <u32>(at8(entryTier, at32(orderEntries, i + 2)) != 0) +
    <u32>(at8(entryTier, at32(orderEntries, i + 3)) != 0) +
    <u32>(at8(entryTier, at32(orderEntries, i + 4)) != 0) +
    <u32>(at8(entryTier, at32(orderEntries, i + 5)) != 0) +
    <u32>(at8(entryTier, at32(orderEntries, i + 6)) != 0) +
    <u32>(at8(entryTier, at32(orderEntries, i + 7)) != 0)
  );
}

/** The same backwards from the end of the order; `pageRows` is filled in walking order, last row first. */
export function walkBackwards(
  orderRows: u32,
  orderEntries: u32,
  orderVersions: u32,
  entryTier: u32,
  low: u32,
  span: u32,
  skip: u32,
  want: u32,
  page: u32,
): u32 {
  let i = rows;
  if (span == ANY_VERSION) {
    while (i >= 8 && skip >= 8) {
      i -= 8;
      skip -= countEight(orderEntries, entryTier, i);
    }
  }
  let found: u32 = 0;
  while (i > 0 && found < want) {
    i--;
    if (at8(entryTier, at32(orderEntries, i)) == 0) continue;
    if (span != ANY_VERSION && at32(orderVersions, i) - low >= span) continue;
    if (skip > 0) skip--;
    else put32(page, found++, at32(orderRows, i));
  }
  return found;
}

// @ts-ignore: decorators are AssemblyScript's
@inline
function setBit(bits: u32, rank: u32): void {
  const at = bits + ((rank >> 5) << 2);
  store<u32>(at, load<u32>(at) | (1 << (rank & 31)));
}

/** Clears `rankBits` and sets the bit of the rank of every row of the set, reading the entries' rows. */
export function scatterEntries(
  orderRanks: u32,
  entryTier: u32,
  entryList: u32,
  count: u32,
  tier: u32,
  low: u32,
  span: u32,
): void {
  const bits = rankBits;
  memory.fill(bits, 0, ((rows >> 6) + 1) << 3);
  const versions = rowVersion;
  const rowStarts = entryRowStarts;
  for (let i: u32 = 0; i < count; i++) {
    const entry = at32(entryList, i);
    if (!wanted(at8(entryTier, entry), tier)) continue;
    const end = at32(rowStarts, entry + 1);
    if (span == ANY_VERSION) {
      for (let row = at32(rowStarts, entry); row < end; row++) setBit(bits, at32(orderRanks, row));
    } else {
      for (let row = at32(rowStarts, entry); row < end; row++) {
        if (at32(versions, row) - low < span) setBit(bits, at32(orderRanks, row));
      }
    }
  }
}

/** The same, reading the rows first..last of the version-grouped order: for versions that few rows have. */
export function scatterVersions(orderRanks: u32, entryTier: u32, tier: u32, first: u32, last: u32): void {
  const bits = rankBits;
  memory.fill(bits, 0, ((rows >> 6) + 1) << 3);
  const entries = versionEntries;
  const rowList = versionRows;
  for (let i = first; i < last; i++) {
    if (wanted(at8(entryTier, at32(entries, i)), tier)) setBit(bits, at32(orderRanks, at32(rowList, i)));
  }
}

/** Of the set bits, skips `skip` and puts the rows at the next `want` ranks into the page. Returns how many. */
export function takeBits(bits: u32, limit: u32, orderRows: u32, skip: u32, want: u32, page: u32): u32 {
  const words = (limit >> 6) + 1;
  let word: u32 = 0;
  for (; word < words; word++) {
    const count = <u32>popcnt(load<u64>(bits + (word << 3)));
    if (count > skip) break;
    skip -= count;
  }
  let found: u32 = 0;
  for (; word < words && found < want; word++) {
    let left = load<u64>(bits + (word << 3));
    while (left != 0 && found < want) {
      const rank = (word << 6) + <u32>ctz(left);
      left &= left - 1;
      if (skip > 0) skip--;
      else put32(page, found++, orderRows == 0 ? rank : at32(orderRows, rank));
    }
  }
  return found;
}

/** Counts the rows of one tier by the shape of their paths, without a version filter. */
export function countShapes(entryTier: u32, entryList: u32, count: u32, tier: u32, shapes: u32): void {
  const counts = shapeCounts;
  memory.fill(counts, 0, shapes << 2);
  const rowStarts = entryRowStarts;
  const shapeOf = entryShape;
  for (let i: u32 = 0; i < count; i++) {
    const entry = at32(entryList, i);
    if (at8(entryTier, entry) != tier) continue;
    const at = counts + (at32(shapeOf, entry) << 2);
    store<u32>(at, load<u32>(at) + at32(rowStarts, entry + 1) - at32(rowStarts, entry));
  }
}

/** Walks the entries in name order and puts the rows after the first `skip` of the set into the page. */
export function walkNames(
  nameEntries: u32,
  count: u32,
  entryTier: u32,
  low: u32,
  span: u32,
  skip: u32,
  want: u32,
  page: u32,
): u32 {
  let found: u32 = 0;
  const rowStarts = entryRowStarts;
  const versions = rowVersion;
  for (let i: u32 = 0; i < count && found < want; i++) {
    const entry = at32(nameEntries, i);
    if (at8(entryTier, entry) == 0) continue;
    if (skip > 0) {
      const size = countVersions(entry, low, span);
      if (size <= skip) {
        skip -= size;
        continue;
      }
    }
    const end = at32(rowStarts, entry + 1);
    for (let row = at32(rowStarts, entry); row < end && found < want; row++) {
      if (span != ANY_VERSION && at32(versions, row) - low >= span) continue;
      if (skip > 0) skip--;
      else put32(page, found++, row);
    }
  }
  return found;
}

/** For the host: how large a page of rows may be. */
export function pageAddress(): u32 {
  return pageRows;
}
