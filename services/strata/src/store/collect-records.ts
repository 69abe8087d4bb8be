import { checkRecord } from "./check-record.js";
import { type Commit, CommitTable } from "./collect-commits.js";
import { DetailCollector, type DetailTable } from "./collect-details.js";
import { foldAscii } from "./compare-code-points.js";
import { GrowingColumn } from "./growing-column.js";
import { InternTable } from "./intern-table.js";
import type { RangeRecord } from "./range-record.js";
import { gather } from "./sort-by-keys.js";

/**
 * All records as columns of numbers into sorted dictionaries: attribute paths, names and licences by code point, versions
 * by their folded text, commits by date. Row order is still the order of arrival.
 */
export interface CollectedRecords {
  readonly attributePaths: string[];
  readonly names: string[];
  /** JSON texts: `null` or a string literal. */
  readonly licenses: string[];
  readonly versions: string[];
  readonly commits: Commit[];
  readonly details: DetailTable;
  readonly attributePath: Uint32Array;
  readonly name: Uint32Array;
  readonly license: Uint32Array;
  readonly version: Uint32Array;
  readonly firstCommit: Uint32Array;
  readonly lastCommit: Uint32Array;
  readonly detail: Uint32Array;
}

/** Reads every record once; memory grows with the distinct strings and 28 bytes a record. */
export async function collectRecords(
  records: Iterable<RangeRecord> | AsyncIterable<RangeRecord>,
  onRecord: (count: number) => void,
): Promise<CollectedRecords> {
  const collector = new RecordCollector();
  const collect = (record: RangeRecord) => {
    checkRecord(record);
    collector.add(record);
    onRecord(collector.count);
  };
  // Waiting for what is there already would cost a microsecond a record.
  if (Symbol.asyncIterator in records) for await (const record of records) collect(record);
  else for (const record of records) collect(record);
  return collector.finish();
}

class RecordCollector {
  readonly #attributePaths = new InternTable<string>("plain");
  readonly #names = new InternTable<string>("plain");
  readonly #licenses = new InternTable<string | null>("json");
  readonly #versions = new InternTable<string>("plain");
  readonly #commits = new CommitTable();
  readonly #details = new DetailCollector();
  readonly #attributePath = new GrowingColumn();
  readonly #name = new GrowingColumn();
  readonly #license = new GrowingColumn();
  readonly #version = new GrowingColumn();
  readonly #firstCommit = new GrowingColumn();
  readonly #lastCommit = new GrowingColumn();
  readonly #detail = new GrowingColumn();

  get count(): number {
    return this.#detail.length;
  }

  add(record: RangeRecord): void {
    this.#attributePath.push(this.#attributePaths.intern(record.attributePath));
    this.#name.push(this.#names.intern(record.name));
    this.#license.push(this.#licenses.intern(record.license));
    this.#version.push(this.#versions.intern(record.version));
    this.#firstCommit.push(this.#commits.intern(record.firstCommitHash, record.firstCommitDate));
    this.#lastCommit.push(this.#commits.intern(record.lastCommitHash, record.lastCommitDate));
    this.#detail.push(this.#details.intern(record));
  }

  finish(): CollectedRecords {
    const attributePaths = this.#attributePaths.sort();
    const names = this.#names.sort();
    const licenses = this.#licenses.sort();
    // Folded: all versions with a common prefix, whatever their case, are then neighbours.
    const versions = this.#versions.sort(foldAscii);
    const commits = this.#commits.sort();
    const details = this.#details.sort();
    return {
      attributePaths: attributePaths.sorted,
      names: names.sorted,
      licenses: licenses.sorted,
      versions: versions.sorted,
      commits: commits.sorted,
      details: details.sorted,
      attributePath: gather(attributePaths.newNumbers, this.#attributePath.toColumn()),
      name: gather(names.newNumbers, this.#name.toColumn()),
      license: gather(licenses.newNumbers, this.#license.toColumn()),
      version: gather(versions.newNumbers, this.#version.toColumn()),
      firstCommit: gather(commits.newNumbers, this.#firstCommit.toColumn()),
      lastCommit: gather(commits.newNumbers, this.#lastCommit.toColumn()),
      detail: gather(details.newNumbers, this.#detail.toColumn()),
    };
  }
}
