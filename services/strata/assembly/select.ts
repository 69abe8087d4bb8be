import {
  at32,
  entries,
  entryBits,
  entryRowStarts,
  put32,
  rankBits,
  rows,
  rowVersion,
  versionEntries,
  versionRows,
} from "./columns";
import { ANY_VERSION } from "./count";
import { holds, inRange, nextEntry } from "./entry-set";

/** Choosing rows by marking each one's place in an order, for sets that are small; and by names. */

@inline
function setBit(bits: u32, rank: u32): void {
  const at = bits + ((rank >> 5) << 2);
  store<u32>(at, load<u32>(at) | (1 << (rank & 31)));
}

/** Clears `rankBits` and sets the bit of the rank of every row of the set, reading the entries' rows. */
export function scatterEntries(orderRanks: u32, low: u32, span: u32): void {
  const bits = rankBits;
  memory.fill(bits, 0, ((rows >> 6) + 1) << 3);
  const versions = rowVersion;
  let entry = nextEntry(entryBits, 0, 0);
  while (entry < entries) {
    const after = nextEntry(entryBits, entry, ~(<u64>0));
    const end = at32(entryRowStarts, after);
    if (span == ANY_VERSION) {
      for (let row = at32(entryRowStarts, entry); row < end; row++) setBit(bits, at32(orderRanks, row));
    } else {
      for (let row = at32(entryRowStarts, entry); row < end; row++) {
        if (inRange(versions, row, low, span)) setBit(bits, at32(orderRanks, row));
      }
    }
    entry = nextEntry(entryBits, after, 0);
  }
}

/** The same, reading the rows first..last of the version-grouped order: for versions that few rows have. */
export function scatterVersions(orderRanks: u32, first: u32, last: u32): void {
  const bits = rankBits;
  memory.fill(bits, 0, ((rows >> 6) + 1) << 3);
  for (let i = first; i < last; i++) {
    if (holds(entryBits, at32(versionEntries, i))) setBit(bits, at32(orderRanks, at32(versionRows, i)));
  }
}

/** Of the set bits, skips `skip` and puts the rows at the next `want` ranks into the page. Returns how many. */
export function takeBits(orderRows: u32, skip: u32, want: u32, page: u32): u32 {
  const bits = rankBits;
  const words = (rows >> 6) + 1;
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
      else put32(page, found++, at32(orderRows, rank));
    }
  }
  return found;
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
    const size = at32(entryRows, entry) & (0 - holds(bits, entry));
    if (size > skip) break;
    skip -= size;
  }
  let found: u32 = 0;
  for (; i < count && found < want; i++) {
    const entry = at32(nameEntries, i);
    if (holds(bits, entry) == 0) continue;
    const end = at32(entryRowStarts, entry + 1);
    for (let row = at32(entryRowStarts, entry); row < end && found < want; row++) {
      if (span != ANY_VERSION && inRange(rowVersion, row, low, span) == 0) continue;
      if (skip > 0) skip--;
      else put32(page, found++, row);
    }
  }
  return found;
}
