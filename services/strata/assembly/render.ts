import {
  at32,
  entryAttributePath,
  entryLicense,
  entryName,
  renderTable,
  rowDetail,
  rowEntry,
  rowFirstCommit,
  rowLastCommit,
  rowVersion,
} from "./columns";

/**
 * Writes records as JSON. Every string lies in the index as a JSON literal, so a record is some thirty copies.
 *
 * `renderTable` is filled by the host: for each of the LABELS its address and length, then for each dictionary the address
 * of its texts and of their starts (after the first four a third number: the column of the detail table).
 */
const LABELS: u32 = 17;
const DICTIONARIES_AT: u32 = LABELS * 8;
const DETAILS_AT: u32 = DICTIONARIES_AT + 4 * 8;
const HASH_LENGTH: u32 = 40;
const DATE_LENGTH: u32 = 20;
const COMMIT_LENGTH: u32 = 60;

/** Copies in steps of 16 bytes and may write up to 15 too many: the output has room for that. */
@inline
function copy(to: u32, from: u32, length: u32): u32 {
  for (let i: u32 = 0; i < length; i += 16) v128.store(to + i, v128.load(from + i));
  return to + length;
}

function label(to: u32, number: u32): u32 {
  const at = renderTable + (number << 3);
  return copy(to, load<u32>(at), load<u32>(at, 4));
}

function text(to: u32, dictionary: u32, number: u32): u32 {
  const starts = load<u32>(dictionary, 4);
  const start = at32(starts, number);
  return copy(to, load<u32>(dictionary) + start, at32(starts, number + 1) - start);
}

function textLength(dictionary: u32, number: u32): u32 {
  const starts = load<u32>(dictionary, 4);
  return at32(starts, number + 1) - at32(starts, number);
}

function decimal(to: u32, value: u32): u32 {
  let digits: u32 = 1;
  for (let rest = value; rest >= 10; rest /= 10) digits++;
  for (let i = digits; i > 0; i--) {
    store<u8>(to + i - 1, <u8>(48 + (value % 10)));
    value /= 10;
  }
  return to + digits;
}

/** No record is longer than its texts and this for labels, id, hashes and dates. */
const FIXED_PART: u32 = 640;

function recordLength(row: u32): u32 {
  const entry = at32(rowEntry, row);
  const detail = at32(rowDetail, row);
  const dictionaries = renderTable + DICTIONARIES_AT;
  let length =
    FIXED_PART +
    textLength(dictionaries, at32(entryAttributePath, entry)) +
    textLength(dictionaries + 8, at32(entryName, entry)) +
    textLength(dictionaries + 16, at32(rowVersion, row)) +
    textLength(dictionaries + 24, at32(entryLicense, entry));
  for (let field: u32 = 0; field < 6; field++) {
    const dictionary = renderTable + DETAILS_AT + field * 12;
    length += textLength(dictionary, at32(load<u32>(dictionary, 8), detail));
  }
  return length;
}

/**
 * Renders rows first..last of the list, comma between them, from `to` on and never past `end`. Returns how many rows were
 * written; the end of the text is in the first word of `result`.
 */
export function renderRows(list: u32, first: u32, last: u32, to: u32, end: u32, result: u32): u32 {
  let i = first;
  for (; i < last; i++) {
    const row = at32(list, i);
    if (to + recordLength(row) > end) break;
    if (i > 0) {
      store<u8>(to, 44);
      to++;
    }
    to = renderRow(row, to);
  }
  store<u32>(result, to);
  return i - first;
}

function renderRow(row: u32, to: u32): u32 {
  const entry = at32(rowEntry, row);
  const detail = at32(rowDetail, row);
  const dictionaries = renderTable + DICTIONARIES_AT;
  const details = renderTable + DETAILS_AT;
  const commits = load<u32>(details, 6 * 12);
  const first = commits + at32(rowFirstCommit, row) * COMMIT_LENGTH;
  const last = commits + at32(rowLastCommit, row) * COMMIT_LENGTH;
  to = decimal(label(to, 0), row + 1);
  to = text(label(to, 1), dictionaries, at32(entryAttributePath, entry));
  to = text(label(to, 2), dictionaries + 8, at32(entryName, entry));
  to = text(label(to, 3), dictionaries + 16, at32(rowVersion, row));
  to = text(label(to, 4), details, at32(load<u32>(details, 8), detail));
  to = text(label(to, 5), dictionaries + 24, at32(entryLicense, entry));
  to = copy(label(to, 6), first, HASH_LENGTH);
  to = copy(label(to, 7), first + HASH_LENGTH, DATE_LENGTH);
  to = copy(label(to, 8), last, HASH_LENGTH);
  to = copy(label(to, 9), last + HASH_LENGTH, DATE_LENGTH);
  to = label(to, 10);
  for (let field: u32 = 1; field < 6; field++) {
    const dictionary = details + field * 12;
    to = text(label(to, 10 + field), dictionary, at32(load<u32>(dictionary, 8), detail));
  }
  return label(to, 16);
}
