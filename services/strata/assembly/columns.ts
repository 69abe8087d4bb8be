/**
 * Where the columns of the open index lie. Set once by the host after the module was instantiated; the names are those of
 * the file's sections. Addresses and counts are all unsigned 32-bit numbers.
 */
export const rows: u32 = 0;
export const entries: u32 = 0;

export const rowEntry: u32 = 0;
export const rowVersion: u32 = 0;
export const rowFirstCommit: u32 = 0;
export const rowLastCommit: u32 = 0;
export const rowDetail: u32 = 0;

export const entryRowStarts: u32 = 0;
export const entrySize: u32 = 0;
export const entryAttributePath: u32 = 0;
export const entryName: u32 = 0;
export const entryLicense: u32 = 0;
export const entryShape: u32 = 0;
export const keyEntryStarts: u32 = 0;

export const matchHits: u32 = 0;
export const versionRows: u32 = 0;
export const versionEntries: u32 = 0;

export const postingStarts: u32 = 0;
export const postingDocument: u32 = 0;
export const postingScore: u32 = 0;
export const sequenceStarts: u32 = 0;
export const sequence: u32 = 0;

// Working space.
export const keyTier: u32 = 0;
export const keyList: u32 = 0;
export const licenseFlag: u32 = 0;
export const rankBits: u32 = 0;
export const entryBits: u32 = 0;
export const entryCounts: u32 = 0;
export const shapeCounts: u32 = 0;
export const documentScore: u32 = 0;
export const documentWords: u32 = 0;
export const documentWordScore: u32 = 0;
export const scoreCounts: u32 = 0;
export const renderTable: u32 = 0;

@inline
export function at32(column: u32, index: u32): u32 {
  return load<u32>(column + (index << 2));
}

@inline
export function put32(column: u32, index: u32, value: u32): void {
  store<u32>(column + (index << 2), value);
}

@inline
export function at8(column: u32, index: u32): u32 {
  return <u32>load<u8>(column + index);
}

/** The i-th entry of a list; without a list (address 0) every entry is in it. */
@inline
export function listed(list: u32, i: u32): u32 {
  return list == 0 ? i : at32(list, i);
}
