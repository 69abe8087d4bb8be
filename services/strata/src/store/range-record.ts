/**
 * What goes into an index and comes out of it: one version of one package, present without a gap from a first to a last
 * commit. A package that vanished and came back has two ranges of the same version; they are kept apart.
 */
export interface RangeRecord {
  /** Where the package lives in the tree, `python313Packages.requests`. Not empty, no NUL. */
  readonly attributePath: string;
  /** The package's own name (`pname`), which may differ from the last part of the path. No NUL. */
  readonly name: string;
  readonly version: string;
  readonly description: string | null;
  /** One string; several licences are joined with `, `. */
  readonly license: string | null;
  /** 40 lower-case hex digits. */
  readonly firstCommitHash: string;
  /** Unix seconds, UTC, whole. */
  readonly firstCommitDate: number;
  readonly lastCommitHash: string;
  readonly lastCommitDate: number;
  readonly homepage: string | null;
  readonly maintainers: readonly string[] | null;
  readonly platforms: readonly string[] | null;
  readonly sourcePath: string | null;
  /** Reasons the package is marked insecure; an empty list is kept as it is and does not count as insecure. */
  readonly knownVulnerabilities: readonly string[] | null;
}

/** A record as it is read back, with the number the index gave it. */
export interface StoredRecord extends RangeRecord {
  readonly id: number;
}

/** What the writer is told about an index beside its records. */
export interface IndexMeta {
  /** The commit the newest snapshot was taken from. `null`: the last commit of the newest record. */
  readonly lastIndexedCommit: string | null;
  /** Unix seconds of that commit. `null`: the newest record's. */
  readonly lastIndexedDate: number | null;
  /** Set on the small index that ships with the program, so that nobody takes it for the whole of nixpkgs. */
  readonly sample?: boolean;
  /** Free text entries for tools that make indexes (channel, source address ...); kept in the header, sorted by key. */
  readonly notes?: Readonly<Record<string, string>>;
}

/** Counted once, when the index is written. Dates are Unix seconds, `null` in an empty index. */
export interface IndexStatistics {
  readonly totalRanges: number;
  readonly uniqueNames: number;
  readonly uniqueVersions: number;
  readonly oldestCommitDate: number | null;
  readonly newestCommitDate: number | null;
  readonly lastIndexedCommit: string | null;
  readonly lastIndexedDate: number | null;
}
