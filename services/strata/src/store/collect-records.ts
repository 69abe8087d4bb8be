import { toUSVString } from "node:util";
import { checkRecord } from "./check-record.js";
import { compareCodePoints, foldAscii } from "./compare-code-points.js";
import { GrowingColumn } from "./growing-column.js";
import { InternTable } from "./intern-table.js";
import type { RangeRecord } from "./range-record.js";
import { gather } from "./sort-by-keys.js";

/** A commit as the index keeps it: a hash and the date it was given with. */
export interface Commit {
  readonly hash: string;
  readonly date: number;
}

/** Everything about a record that no query filters or sorts by, as JSON texts; equal details are stored once. */
export interface Details {
  readonly description: string;
  readonly homepage: string;
  readonly maintainers: string;
  readonly platforms: string;
  readonly sourcePath: string;
  readonly knownVulnerabilities: string;
}

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
  readonly details: Details[];
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
  for await (const record of records) {
    checkRecord(record);
    collector.add(record);
    onRecord(collector.count);
  }
  return collector.finish();
}

class RecordCollector {
  readonly #attributePaths = new InternTable<string>();
  readonly #names = new InternTable<string>();
  readonly #licenses = new InternTable<string>();
  readonly #versions = new InternTable<string>();
  readonly #commits = new InternTable<Commit>();
  readonly #details = new InternTable<Details>();
  readonly #columns = Array.from({ length: 7 }, () => new GrowingColumn());

  get count(): number {
    return this.#columns[0]!.length;
  }

  add(record: RangeRecord): void {
    const [attributePath, name, license, version, firstCommit, lastCommit, detail] = this.#columns;
    attributePath!.push(internText(this.#attributePaths, record.attributePath));
    name!.push(internText(this.#names, record.name));
    license!.push(internText(this.#licenses, toJson(record.license)));
    version!.push(internText(this.#versions, record.version));
    firstCommit!.push(this.#internCommit(record.firstCommitHash, record.firstCommitDate));
    lastCommit!.push(this.#internCommit(record.lastCommitHash, record.lastCommitDate));
    detail!.push(this.#internDetails(record));
  }

  #internCommit(hash: string, date: number): number {
    return this.#commits.intern(`${hash}${date}`, { hash, date });
  }

  #internDetails(record: RangeRecord): number {
    const details = {
      description: toJson(record.description),
      homepage: toJson(record.homepage),
      maintainers: toJson(record.maintainers),
      platforms: toJson(record.platforms),
      sourcePath: toJson(record.sourcePath),
      knownVulnerabilities: toJson(record.knownVulnerabilities),
    };
    return this.#details.intern(Object.values(details).join("\n"), details);
  }

  finish(): CollectedRecords {
    const [attributePath, name, license, version, firstCommit, lastCommit, detail] = this.#columns.map((column) =>
      column.toColumn(),
    );
    const attributePaths = this.#attributePaths.sort(compareCodePoints);
    const names = this.#names.sort(compareCodePoints);
    const licenses = this.#licenses.sort(compareCodePoints);
    const versions = sortVersions(this.#versions);
    const commits = this.#commits.sort((a, b) => a.date - b.date || compareCodePoints(a.hash, b.hash));
    const details = this.#details.sort(compareDetails);
    return {
      attributePaths: attributePaths.sorted,
      names: names.sorted,
      licenses: licenses.sorted,
      versions: versions.sorted,
      commits: commits.sorted,
      details: details.sorted,
      attributePath: gather(attributePaths.newNumbers, attributePath!),
      name: gather(names.newNumbers, name!),
      license: gather(licenses.newNumbers, license!),
      version: gather(versions.newNumbers, version!),
      firstCommit: gather(commits.newNumbers, firstCommit!),
      lastCommit: gather(commits.newNumbers, lastCommit!),
      detail: gather(details.newNumbers, detail!),
    };
  }
}

/** A lone surrogate has no UTF-8; it becomes U+FFFD here, once, instead of at every later encoding. */
function internText(table: InternTable<string>, text: string): number {
  const wellFormed = toUSVString(text);
  return table.intern(wellFormed, wellFormed);
}

function toJson(value: string | readonly string[] | null): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(toUSVString(value));
  return JSON.stringify(value.map(toUSVString));
}

/** Folded first: all versions with a common prefix, whatever their case, are then neighbours. */
function sortVersions(table: InternTable<string>): { sorted: string[]; newNumbers: Uint32Array } {
  const folded = new Map(table.values.map((version) => [version, foldAscii(version)]));
  return table.sort((a, b) => compareCodePoints(folded.get(a)!, folded.get(b)!) || compareCodePoints(a, b));
}

function compareDetails(a: Details, b: Details): number {
  return (
    compareCodePoints(a.description, b.description) ||
    compareCodePoints(a.homepage, b.homepage) ||
    compareCodePoints(a.maintainers, b.maintainers) ||
    compareCodePoints(a.platforms, b.platforms) ||
    compareCodePoints(a.sourcePath, b.sourcePath) ||
    compareCodePoints(a.knownVulnerabilities, b.knownVulnerabilities)
  );
}
