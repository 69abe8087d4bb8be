import {
  at8,
  at32,
  entries,
  entryBits,
  entryCodes,
  entryCounts,
  entryRowStarts,
  entryShape,
  listed,
  put32,
  rowVersion,
  shapeCounts,
  versionEntries,
} from "./columns";
import { firstLanes, holds, inRange, lanesInRange, nextEntry, sumLanes } from "./entry-set";
import { COUNTER_BYTES, COUNTER_SETS, sumCounters } from "./match";

/**
 * Counting rows. A set of rows is given by the tiers of its entries, or by their bits, and a range of version numbers,
 * `low` and `span`; a span of 2^32-1 is no filter.
 */
export const ANY_VERSION: u32 = 0xffff_ffff;

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
    for (; row + 4 <= end; row += 4) sums = v128.sub<i32>(sums, lanesInRange(versions, row, lows, spans));
    count = sumLanes(sums);
  }
  for (; row < end; row++) count += inRange(versions, row, low, span);
  return count;
}

/** Rows of each tier by the given number of rows of each entry. */
export function sumTiers(entryTier: u32, entryList: u32, count: u32, entryRows: u32, tierRows: u32): void {
  const counters = shapeCounts;
  memory.fill(counters, 0, COUNTER_SETS * COUNTER_BYTES);
  for (let i: u32 = 0; i < count; i++) {
    const entry = listed(entryList, i);
    const counter = counters + (i % COUNTER_SETS) * COUNTER_BYTES + (at8(entryTier, entry) << 2);
    store<u32>(counter, load<u32>(counter) + at32(entryRows, entry));
  }
  sumCounters(counters, tierRows);
  // Entries of no tier are read along when there is no list.
  put32(tierRows, 0, 0);
}

/** Rows of all tiers by the given number of rows of each entry. */
export function sumRows(entryTier: u32, entryRows: u32): u32 {
  let sums = i32x4.splat(0);
  const whole = entries & ~15;
  for (let i: u32 = 0; i < whole; i += 16) {
    const tiers = v128.load(entryTier + i);
    if (!v128.any_true(tiers)) continue;
    const marks = v128.ne<i8>(tiers, i8x16.splat(0));
    const low = i16x8.extend_low_i8x16_s(marks);
    const high = i16x8.extend_high_i8x16_s(marks);
    const at = entryRows + (i << 2);
    sums = v128.add<i32>(sums, v128.and(v128.load(at), i32x4.extend_low_i16x8_s(low)));
    sums = v128.add<i32>(sums, v128.and(v128.load(at, 16), i32x4.extend_high_i16x8_s(low)));
    sums = v128.add<i32>(sums, v128.and(v128.load(at, 32), i32x4.extend_low_i16x8_s(high)));
    sums = v128.add<i32>(sums, v128.and(v128.load(at, 48), i32x4.extend_high_i16x8_s(high)));
  }
  let sum = sumLanes(sums);
  for (let entry = whole; entry < entries; entry++) {
    sum += at8(entryTier, entry) == 0 ? 0 : at32(entryRows, entry);
  }
  return sum;
}

/** Rows among first..last of the version-grouped order whose entry is in the set. */
export function countMarkedVersions(first: u32, last: u32): u32 {
  const bits = entryBits;
  const column = versionEntries;
  let count: u32 = 0;
  let i = first;
  for (; i + 4 <= last; i += 4) {
    count +=
      holds(bits, at32(column, i)) +
      holds(bits, at32(column, i + 1)) +
      holds(bits, at32(column, i + 2)) +
      holds(bits, at32(column, i + 3));
  }
  for (; i < last; i++) count += holds(bits, at32(column, i));
  return count;
}

/** Rows of the set's entries with a version of the range, by reading the versions of their rows. */
export function countMarkedEntries(low: u32, span: u32): u32 {
  const lows = i32x4.splat(low);
  const spans = i32x4.splat(span);
  const versions = rowVersion;
  let sums = i32x4.splat(0);
  let entry = nextEntry(entryBits, 0, 0);
  while (entry < entries) {
    const after = nextEntry(entryBits, entry, ~(<u64>0));
    const end = at32(entryRowStarts, after);
    let row = at32(entryRowStarts, entry);
    for (; row + 4 <= end; row += 4) sums = v128.sub<i32>(sums, lanesInRange(versions, row, lows, spans));
    sums = v128.sub<i32>(sums, v128.and(lanesInRange(versions, row, lows, spans), firstLanes(end - row)));
    entry = nextEntry(entryBits, after, 0);
  }
  return sumLanes(sums);
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

/** Counts the rows of all tiers by tier and shape: for each tier `shapes` numbers. Those of no tier mean nothing. */
export function countTierShapes(entryTier: u32, entryRows: u32, shapes: u32, counts: u32): void {
  memory.fill(counts, 0, (7 * shapes) << 2);
  const all = entries;
  const shapeOf = entryShape;
  for (let i: u32 = 0; i < all; i += 16) {
    if (!v128.any_true(v128.load(entryTier + i))) continue;
    const end = min(i + 16, all);
    for (let entry = i; entry < end; entry++) {
      const at = counts + ((at8(entryTier, entry) * shapes + at32(shapeOf, entry)) << 2);
      store<u32>(at, load<u32>(at) + at32(entryRows, entry));
    }
  }
}

/** The same for the rows first..last of the version-grouped order. Needs room for twice as many counters. */
export function countTierShapesByVersions(entryTier: u32, first: u32, last: u32, shapes: u32, counts: u32): void {
  // Two sets of counters in turn: one set would often wait for its own last store.
  const counters: u32 = 7 * shapes;
  const others = counts + (counters << 2);
  memory.fill(counts, 0, counters << 3);
  codeEntries(entryTier, shapes);
  const codes = entryCodes;
  const column = versionEntries;
  let i = first;
  for (; i + 2 <= last; i += 2) {
    countCode(codes, counts, at32(column, i));
    countCode(codes, others, at32(column, i + 1));
  }
  if (i < last) countCode(codes, counts, at32(column, i));
  for (let code: u32 = 0; code < counters; code++) put32(counts, code, at32(counts, code) + at32(others, code));
}

/** Tier and shape of each entry as one number of two bytes: all of them stay in the second-level cache. */
function codeEntries(entryTier: u32, shapes: u32): void {
  const step = i16x8.splat(<i16>shapes);
  // Up to seven too many are read and written; there is room.
  for (let entry: u32 = 0; entry < entries; entry += 8) {
    const tiers = i16x8.extend_low_i8x16_u(v128.load64_zero(entryTier + entry));
    const at = entryShape + (entry << 2);
    const shapesOf = i16x8.narrow_i32x4_u(v128.load(at), v128.load(at, 16));
    v128.store(entryCodes + (entry << 1), v128.add<i16>(v128.mul<i16>(tiers, step), shapesOf));
  }
}

@inline
function countCode(codes: u32, counts: u32, entry: u32): void {
  const at = counts + (<u32>load<u16>(codes + (entry << 1)) << 2);
  store<u32>(at, load<u32>(at) + 1);
}
