/**
 * Stable radix sort of row numbers by integer columns: the writer's only way of sorting rows. Millions of rows times
 * seven columns in a comparator would take minutes; this takes tenths of a second.
 */

/** 2^11 counters stay in the first-level cache. */
const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/** Row numbers 0..count-1 ordered by the columns, the most significant column first; equal rows keep ascending order. */
export function sortByKeys(count: number, columns: readonly Uint32Array[]): Uint32Array {
  let order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  let spare = new Uint32Array(count);
  for (const column of columns.toReversed()) {
    let largest = 0;
    for (let i = 0; i < count; i++) if (column[i]! > largest) largest = column[i]!;
    for (let shift = 0; shift < 32 && largest >>> shift > 0; shift += DIGIT_BITS) {
      sortByDigit(order, spare, column, shift);
      [order, spare] = [spare, order];
    }
  }
  return order;
}

function sortByDigit(from: Uint32Array, to: Uint32Array, column: Uint32Array, shift: number): void {
  const starts = new Uint32Array(DIGITS + 1);
  for (let i = 0; i < from.length; i++) starts[((column[from[i]!]! >>> shift) & (DIGITS - 1)) + 1]!++;
  for (let digit = 0; digit < DIGITS; digit++) starts[digit + 1]! += starts[digit]!;
  for (let i = 0; i < from.length; i++) {
    const row = from[i]!;
    to[starts[(column[row]! >>> shift) & (DIGITS - 1)]!++] = row;
  }
}

/** The inverse of a permutation: where each row ended up. */
export function invertOrder(order: Uint32Array): Uint32Array {
  const rank = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) rank[order[i]!] = i;
  return rank;
}

/** Turns a column around, so that an ascending sort by it is a descending one by the original. */
export function descending(column: Uint32Array): Uint32Array {
  let largest = 0;
  for (let i = 0; i < column.length; i++) if (column[i]! > largest) largest = column[i]!;
  return column.map((value) => largest - value);
}

/** column[at[i]] for each i. */
export function gather(column: Uint32Array, at: Uint32Array): Uint32Array {
  const result = new Uint32Array(at.length);
  for (let i = 0; i < at.length; i++) result[i] = column[at[i]!]!;
  return result;
}

/** For values 0..groups-1 in ascending order of `sorted`: where each group begins, with one closing entry. */
export function groupStarts(sorted: Uint32Array, groups: number): Uint32Array {
  const starts = new Uint32Array(groups + 1);
  for (let i = 0; i < sorted.length; i++) starts[sorted[i]! + 1]!++;
  for (let group = 0; group < groups; group++) starts[group + 1]! += starts[group]!;
  return starts;
}
