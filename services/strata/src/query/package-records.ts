import type { EngineMemory } from "./engine-memory.js";
import { TextDictionary } from "./text-dictionary.js";

/** One version in a package's history; `first` and `last` are commit numbers. */
export interface HistoryEntry {
  readonly version: number;
  first: number;
  last: number;
  isInsecure: boolean;
}

/** The rows of single packages: an attribute path's rows lie side by side. */
export class PackageRecords {
  readonly paths: TextDictionary;
  readonly versions: TextDictionary;
  readonly #pathEntryStarts: Uint32Array;
  readonly #entryRowStarts: Uint32Array;
  readonly #rowVersion: Uint32Array;
  readonly #rowFirstCommit: Uint32Array;
  readonly #rowLastCommit: Uint32Array;
  readonly #rowDetail: Uint32Array;
  readonly #versionClass: Uint32Array;
  readonly #dateClass: Uint32Array;
  readonly #vulnerabilities: Uint32Array;
  readonly #vulnerabilitiesAt: Uint32Array;

  constructor({ index }: EngineMemory) {
    this.paths = new TextDictionary(index, "attributePath", { folded: false });
    this.versions = new TextDictionary(index, "version", { folded: true });
    this.#pathEntryStarts = index.numbers("attributePathEntryStarts");
    this.#entryRowStarts = index.numbers("entryRowStarts");
    this.#rowVersion = index.numbers("rowVersion");
    this.#rowFirstCommit = index.numbers("rowFirstCommit");
    this.#rowLastCommit = index.numbers("rowLastCommit");
    this.#rowDetail = index.numbers("rowDetail");
    this.#versionClass = index.numbers("versionClass");
    this.#dateClass = index.numbers("commitDateClass");
    this.#vulnerabilities = index.numbers("detail:knownVulnerabilities");
    this.#vulnerabilitiesAt = index.numbers("knownVulnerabilitiesAt");
  }

  /** All rows of a package, newest last commit first, then newest version, then id; null for an unknown package. */
  rowsOf(attributePath: string): Uint32Array | null {
    const path = this.paths.find(attributePath);
    if (path < 0) return null;
    const firstEntry = this.#pathEntryStarts[path]!;
    const lastEntry = this.#pathEntryStarts[path + 1]!;
    const start = this.#entryRowStarts[firstEntry]!;
    const rows = Uint32Array.from({ length: this.#entryRowStarts[lastEntry]! - start }, (_, i) => start + i);
    // One entry's rows are in this order already.
    return lastEntry - firstEntry === 1 ? rows : rows.sort((a, b) => this.#compareNewest(a, b));
  }

  #compareNewest(a: number, b: number): number {
    return (
      this.#dateClass[this.#rowLastCommit[b]!]! - this.#dateClass[this.#rowLastCommit[a]!]! ||
      this.#versionClass[this.#rowVersion[b]!]! - this.#versionClass[this.#rowVersion[a]!]! ||
      a - b
    );
  }

  /** Of a package's rows those of one version, spelled exactly so. */
  ofVersion(rows: Uint32Array, version: string): Uint32Array {
    const distinct = new Map<number, boolean>();
    return rows.filter((row) => {
      const number = this.#rowVersion[row]!;
      let same = distinct.get(number);
      if (same === undefined) {
        same = this.versions.text(number) === version;
        distinct.set(number, same);
      }
      return same;
    });
  }

  /** The earliest first commit; among equal dates the lowest id. */
  first(rows: Uint32Array): number {
    const date = (row: number) => this.#dateClass[this.#rowFirstCommit[row]!]!;
    return rows.reduce((best, row) =>
      date(row) < date(best) || (date(row) === date(best) && row < best) ? row : best,
    );
  }

  /** The latest last commit; among equal dates the lowest id. */
  last(rows: Uint32Array): number {
    const date = (row: number) => this.#dateClass[this.#rowLastCommit[row]!]!;
    return rows.reduce((best, row) =>
      date(row) > date(best) || (date(row) === date(best) && row < best) ? row : best,
    );
  }

  /** One entry a version; newest first seen first, then the newest version, then the version's text. */
  history(rows: Uint32Array): HistoryEntry[] {
    const entries = new Map<number, HistoryEntry>();
    for (const row of rows) {
      const version = this.#rowVersion[row]!;
      const first = this.#rowFirstCommit[row]!;
      const last = this.#rowLastCommit[row]!;
      const entry = entries.get(version);
      if (entry === undefined) {
        entries.set(version, { version, first, last, isInsecure: this.#isInsecure(row) });
        continue;
      }
      // Commit numbers ascend with their dates.
      entry.first = Math.min(entry.first, first);
      entry.last = Math.max(entry.last, last);
      entry.isInsecure ||= this.#isInsecure(row);
    }
    return [...entries.values()].sort(
      (a, b) =>
        this.#dateClass[b.first]! - this.#dateClass[a.first]! ||
        this.#versionClass[b.version]! - this.#versionClass[a.version]! ||
        a.version - b.version,
    );
  }

  /** The distinct versions of a package, newest in Nix order first. */
  versionsOf(rows: Uint32Array): string[] {
    const distinct = [...new Set(Array.from(rows, (row) => this.#rowVersion[row]!))];
    distinct.sort((a, b) => this.#versionClass[b]! - this.#versionClass[a]! || a - b);
    return distinct.map((version) => this.versions.text(version));
  }

  /** Anything longer than `null` is a list; `[]` is one without reasons. */
  #isInsecure(row: number): boolean {
    const list = this.#vulnerabilities[this.#rowDetail[row]!]!;
    return this.#vulnerabilitiesAt[list + 1]! - this.#vulnerabilitiesAt[list]! > "null".length;
  }
}
