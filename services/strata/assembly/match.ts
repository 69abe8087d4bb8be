import {
  at8,
  at32,
  entries,
  entryKey,
  entryLicense,
  entrySize,
  keyEntryStarts,
  keyList,
  keyTier,
  licenseFlag,
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
export function listKeys(low: u32, exactHigh: u32, high: u32): u32 {
  let count: u32 = 0;
  for (let i = low; i < high; i++) {
    const hit = at32(matchHits, i);
    const key = hit >> PLACE_BITS;
    const known = at8(keyTier, key);
    // The list is written always and its end moved only for a new key: no branch to mispredict.
    put32(keyList, count, key);
    count += <u32>(known == 0);
    store<u8>(keyTier + key, <u8>max(known, tierOf(hit, i < exactHigh)));
  }
  return count;
}

/** The same without a list, for queries that many keys match. */
export function markKeys(low: u32, exactHigh: u32, high: u32): void {
  const tiers = keyTier;
  const hits = matchHits;
  for (let i = low; i < exactHigh; i++) markKey(tiers, at32(hits, i), true);
  for (let i = exactHigh; i < high; i++) markKey(tiers, at32(hits, i), false);
}

@inline
function markKey(tiers: u32, hit: u32, isExact: bool): void {
  const at = tiers + (hit >> PLACE_BITS);
  store<u8>(at, <u8>max(<u32>load<u8>(at), tierOf(hit, isExact)));
}

@inline
function tierOf(hit: u32, isExact: bool): u32 {
  const place = hit & PLACE_MASK;
  return isExact && place >= LEAF_START ? place + EXACT_BONUS : place;
}

/** Four sets of counters in turn: one set would wait for its own last store at every step. */
export const COUNTER_SETS: u32 = 4;
export const COUNTER_BYTES: u32 = 32;

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

/**
 * The same for queries that many keys match, without a list: gives every entry the tier of its key. The entries of eight
 * keys without a mark are left alone; their tiers are zero already.
 */
export function tierEntries(keys: u32, filterLicense: bool, entryTier: u32): void {
  const tiers = keyTier;
  const keyOf = entryKey;
  for (let key: u32 = 0; key < keys; key += 8) {
    const eight = load<u64>(tiers + key);
    if (eight == 0) continue;
    const end = at32(keyEntryStarts, min(key + 8, keys));
    let entry = at32(keyEntryStarts, key);
    if (filterLicense) {
      for (; entry < end; entry++) store<u8>(entryTier + entry, <u8>(at8(tiers, at32(keyOf, entry)) & licenseMask(entry)));
    } else if (end - entry == 8) {
      // Most keys have one entry.
      store<u64>(entryTier + entry, eight);
    } else {
      for (; entry < end; entry++) store<u8>(entryTier + entry, <u8>at8(tiers, at32(keyOf, entry)));
    }
  }
}

/** All ones for an entry whose licence is flagged. */
@inline
function licenseMask(entry: u32): u32 {
  return 0 - at8(licenseFlag, at32(entryLicense, entry));
}

/** Gives every entry with a flagged licence its tier of `tiers`. */
export function filterEntries(tiers: u32, entryTier: u32): void {
  const end = entries;
  for (let entry: u32 = 0; entry < end; entry++) {
    store<u8>(entryTier + entry, <u8>(at8(tiers, entry) & licenseMask(entry)));
  }
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

export function sumCounters(counters: u32, sums: u32): void {
  for (let tier: u32 = 0; tier < 7; tier++) {
    let sum: u32 = 0;
    for (let set: u32 = 0; set < COUNTER_SETS; set++) sum += load<u32>(counters + set * COUNTER_BYTES + (tier << 2));
    put32(sums, tier, sum);
  }
}

/** Makes a match's tiers all zero again, so that its place can be used for another one. */
export function clearEntries(entryTier: u32, entryList: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u8>(entryTier + at32(entryList, i), 0);
}
