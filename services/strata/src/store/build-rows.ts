import type { CollectedRecords } from "./collect-records.js";
import { descending, gather, sortByKeys } from "./sort-by-keys.js";
import { classifyVersions } from "./version-classes.js";

/**
 * The row table. Rows are ordered by attribute path, name and licence, then newest first; the rest of their content
 * breaks ties, so the order (and with it every id) depends on the content alone.
 *
 * An *entry* is a run of rows with one path, name and licence: everything a search matches or filters by except the
 * version is the same in all of an entry's rows. A *key* is a run of entries with one path and name: what `q` matches.
 */
export interface RowTable {
  readonly rows: number;
  readonly entries: number;
  readonly keys: number;
  /** By row. */
  readonly rowEntry: Uint32Array;
  readonly rowVersion: Uint32Array;
  readonly rowFirstCommit: Uint32Array;
  readonly rowLastCommit: Uint32Array;
  readonly rowDetail: Uint32Array;
  /** By entry; `Starts` have a closing element. */
  readonly entryRowStarts: Uint32Array;
  readonly entrySize: Uint32Array;
  readonly entryKey: Uint32Array;
  readonly entryAttributePath: Uint32Array;
  readonly entryName: Uint32Array;
  readonly entryLicense: Uint32Array;
  /** By key, and by attribute path: where their entries begin, with a closing element. */
  readonly keyEntryStarts: Uint32Array;
  readonly attributePathEntryStarts: Uint32Array;
  /** By version number: its place in Nix order. */
  readonly versionClass: Uint32Array;
  /** By commit number: its date's place among all dates. */
  readonly commitDateClass: Uint32Array;
}

export function buildRows(records: CollectedRecords): RowTable {
  const versionClass = classifyVersions(records.versions);
  const commitDateClass = classifyDates(records);
  const rows = records.attributePath.length;
  const order = sortByKeys(rows, [
    records.attributePath,
    records.name,
    records.license,
    descending(gather(commitDateClass, records.lastCommit)),
    descending(gather(versionClass, records.version)),
    records.version,
    records.firstCommit,
    records.lastCommit,
    records.detail,
  ]);
  const attributePath = gather(records.attributePath, order);
  const name = gather(records.name, order);
  const license = gather(records.license, order);
  const rowEntry = numberRuns([attributePath, name, license]);
  const rowKey = numberRuns([attributePath, name]);
  const entryRowStarts = runStarts(rowEntry);
  const firstRows = entryRowStarts.subarray(0, -1);
  const entryKey = gather(rowKey, firstRows);
  const entryAttributePath = gather(attributePath, firstRows);
  return {
    rows,
    entries: firstRows.length,
    keys: rows === 0 ? 0 : rowKey[rows - 1]! + 1,
    rowEntry,
    rowVersion: gather(records.version, order),
    rowFirstCommit: gather(records.firstCommit, order),
    rowLastCommit: gather(records.lastCommit, order),
    rowDetail: gather(records.detail, order),
    entryRowStarts,
    entrySize: firstRows.map((start, entry) => entryRowStarts[entry + 1]! - start),
    entryKey,
    entryAttributePath,
    entryName: gather(name, firstRows),
    entryLicense: gather(license, firstRows),
    keyEntryStarts: runStarts(entryKey),
    attributePathEntryStarts: runStarts(entryAttributePath),
    versionClass,
    commitDateClass,
  };
}

/** Commits are sorted by date, so equal dates are neighbours. */
function classifyDates(records: CollectedRecords): Uint32Array {
  const classes = new Uint32Array(records.commits.length);
  for (let i = 1; i < classes.length; i++) {
    classes[i] = classes[i - 1]! + (records.commits[i]!.date === records.commits[i - 1]!.date ? 0 : 1);
  }
  return classes;
}

/** Numbers 0, 1, 2 ... that go up wherever one of the columns changes from row to row. */
function numberRuns(columns: readonly Uint32Array[]): Uint32Array {
  const numbers = new Uint32Array(columns[0]!.length);
  for (let i = 1; i < numbers.length; i++) {
    const changed = columns.some((column) => column[i] !== column[i - 1]);
    numbers[i] = numbers[i - 1]! + (changed ? 1 : 0);
  }
  return numbers;
}

/** Where each run of an ascending column without gaps begins, with one closing element. */
function runStarts(numbers: Uint32Array): Uint32Array {
  const runs = numbers.length === 0 ? 0 : numbers[numbers.length - 1]! + 1;
  const starts = new Uint32Array(runs + 1);
  for (const number of numbers) starts[number + 1]!++;
  for (let run = 0; run < runs; run++) starts[run + 1]! += starts[run]!;
  return starts;
}
