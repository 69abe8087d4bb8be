import {
  at8,
  at32,
  entries,
  entryLicense,
  entrySize,
  keyEntryStarts,
  keyList,
  keyTier,
  licenseFlag,
  listed,
  matchHits,
  put32,
  shapeCounts,
} from "./columns";

/** A hit is a key number and the place the occurrence begins at. */
const PLACE_BITS: u32 = 3;
const PLACE_MASK: u32 = 7;
/** An occurrence that begins at a leaf, name or path start and runs to its end is exact: two tiers higher. */
const LEAF_START: u32 = 3;
const EXACT_BONUS: u32 = 2;

/**
 * Marks the keys of suffixes low..high with their best tier; those below `exactHigh` end where the query ends.
 * Returns how many keys were marked; they are in `keyList`.
 */
export function markKeys(low: u32, exactHigh: u32, high: u32): u32 {
  let count: u32 = 0;
  const tiers = keyTier;
  const list = keyList;
  for (let i = low; i < exactHigh; i++) {
    const hit = at32(matchHits, i);
    const place = hit & PLACE_MASK;
    count = markKey(tiers, list, count, hit >> PLACE_BITS, place >= LEAF_START ? place + EXACT_BONUS : place);
  }
  const hits = matchHits;
  for (let i = exactHigh; i < high; i++) {
    const hit = at32(hits, i);
    count = markKey(tiers, list, count, hit >> PLACE_BITS, hit & PLACE_MASK);
  }
  return count;
}

@inline
function markKey(tiers: u32, list: u32, count: u32, key: u32, tier: u32): u32 {
  const known = at8(tiers, key);
  // The list is written always and its end moved only for a new key: no branch to mispredict.
  put32(list, count, key);
  store<u8>(tiers + key, <u8>max(known, tier));
  return count + <u32>(known == 0);
}

/** Four sets of counters in turn: one set would wait for its own last store at every step. */
const COUNTER_SETS: u32 = 4;
const COUNTER_BYTES: u32 = 32;

/**
 * Turns the marked keys of `keyList` into entries of a match: their tiers, a list of them, and the rows of each tier (seven
 * counters). Leaves `keyTier` clean. Returns the number of entries.
 */
export function expandListedKeys(keys: u32, filterLicense: bool, entryTier: u32, entryList: u32, tierRows: u32): u32 {
  let count: u32 = 0;
  const counters = shapeCounts;
  memory.fill(counters, 0, COUNTER_SETS * COUNTER_BYTES);
  for (let i: u32 = 0; i < keys; i++) {
    const key = at32(keyList, i);
    const tier = at8(keyTier, key);
    store<u8>(keyTier + key, 0);
    count = expandKey(key, tier, filterLicense, entryTier, entryList, count, counters);
  }
  sumCounters(counters, tierRows);
  return count;
}

/** The same from a tier for every key, read in order: for queries that many keys match. */
export function expandAllKeys(
  tiers: u32,
  keys: u32,
  filterLicense: bool,
  entryTier: u32,
  entryList: u32,
  tierRows: u32,
): u32 {
  let count: u32 = 0;
  const counters = shapeCounts;
  memory.fill(counters, 0, COUNTER_SETS * COUNTER_BYTES);
  for (let key: u32 = 0; key < keys; key++) {
    const tier = at8(tiers, key);
    if (tier != 0) count = expandKey(key, tier, filterLicense, entryTier, entryList, count, counters);
  }
  sumCounters(counters, tierRows);
  return count;
}

@inline
function expandKey(
  key: u32,
  tier: u32,
  filterLicense: bool,
  entryTier: u32,
  entryList: u32,
  count: u32,
  counters: u32,
): u32 {
  const end = at32(keyEntryStarts, key + 1);
  for (let entry = at32(keyEntryStarts, key); entry < end; entry++) {
    if (filterLicense && at8(licenseFlag, at32(entryLicense, entry)) == 0) continue;
    store<u8>(entryTier + entry, <u8>tier);
    put32(entryList, count++, entry);
    const counter = counters + (entry % COUNTER_SETS) * COUNTER_BYTES + (tier << 2);
    store<u32>(counter, load<u32>(counter) + at32(entrySize, entry));
  }
  return count;
}

function sumCounters(counters: u32, sums: u32): void {
  for (let tier: u32 = 0; tier < 7; tier++) {
    let sum: u32 = 0;
    for (let set: u32 = 0; set < COUNTER_SETS; set++) sum += load<u32>(counters + set * COUNTER_BYTES + (tier << 2));
    put32(sums, tier, sum);
  }
}

/** The same from a tier for every entry, for those with a flagged licence only. */
export function expandEntries(tiers: u32, entryTier: u32, entryList: u32, tierRows: u32): u32 {
  let count: u32 = 0;
  const counters = shapeCounts;
  memory.fill(counters, 0, COUNTER_SETS * COUNTER_BYTES);
  for (let entry: u32 = 0; entry < entries; entry++) {
    const tier = at8(tiers, entry);
    if (tier == 0 || at8(licenseFlag, at32(entryLicense, entry)) == 0) continue;
    store<u8>(entryTier + entry, <u8>tier);
    put32(entryList, count++, entry);
    const counter = counters + (entry % COUNTER_SETS) * COUNTER_BYTES + (tier << 2);
    store<u32>(counter, load<u32>(counter) + at32(entrySize, entry));
  }
  sumCounters(counters, tierRows);
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

/** Makes a match's tiers all zero again, so that its place can be used for another one. */
export function clearEntries(entryTier: u32, entryList: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u8>(entryTier + at32(entryList, i), 0);
}
