/**
 * Where the columns of the open index lie. Set once by the host after the module was instantiated; the names are those of
 * the file's sections. Addresses and counts are all unsigned 32-bit numbers.
 */
export let rows: u32 = 0;
export let entries: u32 = 0;

export let rowEntry: u32 = 0;
export let rowVersion: u32 = 0;
export let rowFirstCommit: u32 = 0;
export let rowLastCommit: u32 = 0;
export let rowDetail: u32 = 0;

export let entryRowStarts: u32 = 0;
export let entrySize: u32 = 0;
export let entryKey: u32 = 0;
export let entryAttributePath: u32 = 0;
export let entryName: u32 = 0;
export let entryLicense: u32 = 0;
export let entryShape: u32 = 0;
export let keyEntryStarts: u32 = 0;

export let matchHits: u32 = 0;
export let versionRows: u32 = 0;
export let versionEntries: u32 = 0;

export let postingStarts: u32 = 0;
export let postingDocument: u32 = 0;
export let postingScore: u32 = 0;
export let sequenceStarts: u32 = 0;
export let sequence: u32 = 0;

// Working space.
export let keyTier: u32 = 0;
export let keyList: u32 = 0;
export let licenseFlag: u32 = 0;
export let rankBits: u32 = 0;
export let entryBits: u32 = 0;
export let entryCounts: u32 = 0;
export let entryCodes: u32 = 0;
export let shapeCounts: u32 = 0;
export let sampleCounts: u32 = 0;
export let documentScore: u32 = 0;
export let documentWordScore: u32 = 0;
export let scoreCounts: u32 = 0;
export let renderTable: u32 = 0;

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
