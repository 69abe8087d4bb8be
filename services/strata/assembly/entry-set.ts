import { at32, entries, entryBits } from "./columns";

/**
 * The set of entries that a page is made of: one bit an entry in `entryBits`, small enough for the first-level cache,
 * where an order is walked.
 */

/** Makes the set of the entries of one tier; `tier` 0 stands for any tier but none. */
export function packEntryBits(entryTier: u32, tier: u32): void {
  const wanted = i8x16.splat(<i8>tier);
  const none = i8x16.splat(0);
  const end = entries;
  for (let i: u32 = 0; i < end; i += 16) {
    const tiers = v128.load(entryTier + i);
    const mask = tier == 0 ? v128.ne<i8>(tiers, none) : v128.eq<i8>(tiers, wanted);
    store<u16>(entryBits + (i >> 3), <u16>i8x16.bitmask(mask));
  }
  // What was read behind the last entry belongs to nobody.
  const last = entryBits + ((end >> 6) << 3);
  store<u64>(last, load<u64>(last) & ((<u64>1 << (end & 63)) - 1));
}

/** 1 when the entry is in the set, else 0. */
@inline
export function holds(bits: u32, entry: u32): u32 {
  return (load<u32>(bits + ((entry >> 5) << 2)) >> (entry & 31)) & 1;
}

/** The first entry from `entry` on that is in the set, or `entries`; with `flip` all ones the first that is not in it. */
export function nextEntry(bits: u32, entry: u32, flip: u64): u32 {
  const end = entries;
  if (entry >= end) return end;
  let at = bits + ((entry >> 6) << 3);
  let word = ((load<u64>(at) ^ flip) >> (entry & 63)) << (entry & 63);
  const stop = bits + (((end + 63) >> 6) << 3);
  while (word == 0) {
    at += 8;
    if (at >= stop) return end;
    word = load<u64>(at) ^ flip;
  }
  return min(end, ((at - bits) << 3) + <u32>ctz(word));
}

/** Set where the lane is below `count`: the last, incomplete four of a run of rows. */
@inline
export function firstLanes(count: u32): v128 {
  return v128.lt<u32>(i32x4(0, 1, 2, 3), i32x4.splat(count));
}

@inline
export function sumLanes(sums: v128): u32 {
  return (
    i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1) + i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3)
  );
}

/** All ones in the lanes whose version is in the range. */
@inline
export function lanesInRange(versions: u32, row: u32, lows: v128, spans: v128): v128 {
  return v128.lt<u32>(v128.sub<i32>(v128.load(versions + (row << 2)), lows), spans);
}

/** Whether the version at a place of a column is in the range. */
@inline
export function inRange(versions: u32, at: u32, low: u32, span: u32): u32 {
  return <u32>(at32(versions, at) - low < span);
}
