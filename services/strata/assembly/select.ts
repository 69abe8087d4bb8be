import {
  at8,
  at32,
  entries,
  entryBits,
  entryCounts,
  entryRowStarts,
  entryShape,
  listed,
  put32,
  rankBits,
  rows,
  rowVersion,
  shapeCounts,
  versionEntries,
  versionRows,
} from "./columns";

/**
 * Counting and choosing rows. A set of rows is given by the tiers of its entries and a range of version numbers, `low` and
 * `span`; a span of 2^32-1 is no filter.
 */
const ANY_VERSION: u32 = 0xffff_ffff;

/** Counts, for every entry, its rows among first..last of the version-grouped order, into `entryCounts`. */
export function countByVersions(first: u32, last: u32): void {
  const counts = entryCounts;
  memory.fill(counts, 0, entries << 2);
  for (let i = first; i < last; i++) {
    const at = counts + (at32(versionEntries, i) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
}

/** The same for the entries of a list only, by reading the versions of their rows. */
export function countByEntries(entryList: u32, count: u32, low: u32, span: u32): void {
  const counts = entryCounts;
  for (let i: u32 = 0; i < count; i++) {
    const entry = listed(entryList, i);
    put32(counts, entry, countVersions(entry, low, span));
  }
}

/** How many rows of an entry have a version in the range. */
function countVersions(entry: u32, low: u32, span: u32): u32 {
  const end = at32(entryRowStarts, entry + 1);
  let row = at32(entryRowStarts, entry);
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
 * One bit an entry, from the tiers: small enough for the first-level cache, where an order is walked. `tier` 0 stands for
 * any tier but none.
 */
export function packEntryBits(entryTier: u32, tier: u32): void {
  const wanted = i8x16.splat(<i8>tier);
  const none = i8x16.splat(0);
  for (let i: u32 = 0; i < entries; i += 16) {
    const tiers = v128.load(entryTier + i);
    const mask = tier == 0 ? v128.ne<i8>(tiers, none) : v128.eq<i8>(tiers, wanted);
    store<u16>(entryBits + (i >> 3), <u16>i8x16.bitmask(mask));
  }
}

/** 1 when the place of an order belongs to the set, else 0; no branch, since neither is the usual case. */
@inline
function member(bits: u32, orderEntries: u32, orderVersions: u32, low: u32, span: u32, filtered: bool, i: u32): u32 {
  const entry = at32(orderEntries, i);
  const bit = (load<u32>(bits + ((entry >> 5) << 2)) >> (entry & 31)) & 1;
  if (!filtered) return bit;
  return bit & <u32>(at32(orderVersions, i) - low < span);
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

/**
 * Walks an order forwards from `from` up to `to`, skips `skip` rows of the set (entries of `entryBits`, versions of the range)
 * and puts the next `want` into the page. Returns how many were put there.
 */
export function walkForwards(
  orderRows: u32,
  orderEntries: u32,
  orderVersions: u32,
  low: u32,
  span: u32,
  from: u32,
  to: u32,
  skip: u32,
  want: u32,
  page: u32,
): u32 {
  const bits = entryBits;
  const filtered = span != ANY_VERSION;
  let i = from;
  if (filtered) {
    while (i + 8 <= to && skip >= 8) {
      skip -= countEight(bits, orderEntries, orderVersions, low, span, true, i);
      i += 8;
    }
  } else {
    while (i + 8 <= to && skip >= 8) {
      skip -= countEight(bits, orderEntries, orderVersions, low, span, false, i);
      i += 8;
    }
  }
  let found: u32 = 0;
  for (; i < to && found < want; i++) {
    if (member(bits, orderEntries, orderVersions, low, span, filtered, i) == 0) continue;
    if (skip > 0) skip--;
    else put32(page, found++, at32(orderRows, i));
  }
  return found;
}

/** The same backwards from the end of the order; the page is filled in walking order, last row first. */
export function walkBackwards(
  orderRows: u32,
  orderEntries: u32,
  orderVersions: u32,
  low: u32,
  span: u32,
  skip: u32,
  want: u32,
  page: u32,
): u32 {
  const bits = entryBits;
  const filtered = span != ANY_VERSION;
  let i = rows;
  if (filtered) {
    while (i >= 8 && skip >= 8) {
      i -= 8;
      skip -= countEight(bits, orderEntries, orderVersions, low, span, true, i);
    }
  } else {
    while (i >= 8 && skip >= 8) {
      i -= 8;
      skip -= countEight(bits, orderEntries, orderVersions, low, span, false, i);
    }
  }
  let found: u32 = 0;
  while (i > 0 && found < want) {
    i--;
    if (member(bits, orderEntries, orderVersions, low, span, filtered, i) == 0) continue;
    if (skip > 0) skip--;
    else put32(page, found++, at32(orderRows, i));
  }
  return found;
}

@inline
function isWanted(found: u32, tier: u32): bool {
  return tier == 0 ? found != 0 : found == tier;
}

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
    const entry = listed(entryList, i);
    if (!isWanted(at8(entryTier, entry), tier)) continue;
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

/** The same for a set of all tiers without a filter, by taking away the rows that are not in it: for sets of nearly everything. */
export function scatterOthers(orderRanks: u32, entryTier: u32): void {
  const bits = rankBits;
  memory.fill(bits, 0xff, (rows >> 6) << 3);
  store<u64>(bits + ((rows >> 6) << 3), ((<u64>1) << (rows & 63)) - 1);
  for (let entry: u32 = 0; entry < entries; entry++) {
    if (at8(entryTier, entry) != 0) continue;
    const end = at32(entryRowStarts, entry + 1);
    for (let row = at32(entryRowStarts, entry); row < end; row++) {
      const rank = at32(orderRanks, row);
      const at = bits + ((rank >> 5) << 2);
      store<u32>(at, load<u32>(at) & ~(1 << (rank & 31)));
    }
  }
}

/** The same, reading the rows first..last of the version-grouped order: for versions that few rows have. */
export function scatterVersions(orderRanks: u32, entryTier: u32, tier: u32, first: u32, last: u32): void {
  const bits = rankBits;
  memory.fill(bits, 0, ((rows >> 6) + 1) << 3);
  for (let i = first; i < last; i++) {
    if (isWanted(at8(entryTier, at32(versionEntries, i)), tier)) setBit(bits, at32(orderRanks, at32(versionRows, i)));
  }
}

/**
 * Of the set bits, skips `skip` and puts the rows at the next `want` ranks into the page; without an order the ranks
 * themselves. Returns how many.
 */
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

/** Counts the rows of one tier by the shape of their paths. */
export function countShapes(entryTier: u32, entryList: u32, count: u32, tier: u32, entryRows: u32, shapes: u32): void {
  const counts = shapeCounts;
  memory.fill(counts, 0, shapes << 2);
  for (let i: u32 = 0; i < count; i++) {
    const entry = listed(entryList, i);
    if (at8(entryTier, entry) != tier) continue;
    const at = counts + (at32(entryShape, entry) << 2);
    store<u32>(at, load<u32>(at) + at32(entryRows, entry));
  }
}

/**
 * Walks the entries in name order and puts the rows after the first `skip` of the set (entries of `entryBits`) into the
 * page. `entryRows` has the number of rows of each entry that count.
 */
export function walkNames(
  nameEntries: u32,
  count: u32,
  entryRows: u32,
  low: u32,
  span: u32,
  skip: u32,
  want: u32,
  page: u32,
): u32 {
  const bits = entryBits;
  let i: u32 = 0;
  for (; i < count; i++) {
    const entry = at32(nameEntries, i);
    const bit = (load<u32>(bits + ((entry >> 5) << 2)) >> (entry & 31)) & 1;
    const size = at32(entryRows, entry) & (0 - bit);
    if (size > skip) break;
    skip -= size;
  }
  let found: u32 = 0;
  for (; i < count && found < want; i++) {
    const entry = at32(nameEntries, i);
    if (((load<u32>(bits + ((entry >> 5) << 2)) >> (entry & 31)) & 1) == 0) continue;
    const end = at32(entryRowStarts, entry + 1);
    for (let row = at32(entryRowStarts, entry); row < end && found < want; row++) {
      if (span != ANY_VERSION && at32(rowVersion, row) - low >= span) continue;
      if (skip > 0) skip--;
      else put32(page, found++, row);
    }
  }
  return found;
}
