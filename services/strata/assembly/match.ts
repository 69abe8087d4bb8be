import { at8, at32, entryLicense, entryRowStarts, keyEntryStarts, keyList, keyTier, licenseFlag, matchHits, put32 } from "./columns";

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

// @ts-ignore: decorators are AssemblyScript's
@inline
function markKey(tiers: u32, list: u32, count: u32, key: u32, tier: u32): u32 {
  const known = at8(tiers, key);
  // The list is written always and its end moved only for a new key: no branch to mispredict.
  put32(list, count, key);
  store<u8>(tiers + key, <u8>max(known, tier));
  return count + <u32>(known == 0);
}

/**
 * Turns the marked keys into entries of a match: their tiers, a list of them, and the rows of each tier (seven counters).
 * Leaves `keyTier` clean. Returns the number of entries.
 */
export function expandKeys(keys: u32, filterLicense: bool, entryTier: u32, entryList: u32, tierRows: u32): u32 {
  let count: u32 = 0;
  memory.fill(tierRows, 0, 7 * 4);
  const list = keyList;
  const tiers = keyTier;
  const entryStarts = keyEntryStarts;
  const rowStarts = entryRowStarts;
  for (let i: u32 = 0; i < keys; i++) {
    const key = at32(list, i);
    const tier = at8(tiers, key);
    store<u8>(tiers + key, 0);
    const end = at32(entryStarts, key + 1);
    for (let entry = at32(entryStarts, key); entry < end; entry++) {
      if (filterLicense && at8(licenseFlag, at32(entryLicense, entry)) == 0) continue;
      store<u8>(entryTier + entry, <u8>tier);
      put32(entryList, count++, entry);
      put32(tierRows, tier, at32(tierRows, tier) + at32(rowStarts, entry + 1) - at32(rowStarts, entry));
    }
  }
  return count;
}

/** Makes a match's tiers all zero again, so that its place can be used for another one. */
export function clearEntries(entryTier: u32, entryList: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u8>(entryTier + at32(entryList, i), 0);
}
