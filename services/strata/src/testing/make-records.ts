import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RangeRecord } from "../store/index.js";

/** A record with everything filled in; tests name only what matters to them. */
export function makeRecord(given: Partial<RangeRecord> & { attributePath: string }): RangeRecord {
  return {
    name: given.attributePath.slice(given.attributePath.lastIndexOf(".") + 1) || "x",
    version: "1.0",
    description: null,
    license: null,
    firstCommitHash: "a".repeat(40),
    firstCommitDate: 1_600_000_000,
    lastCommitHash: "b".repeat(40),
    lastCommitDate: Math.max(1_650_000_000, given.firstCommitDate ?? 0),
    homepage: null,
    maintainers: null,
    platforms: null,
    sourcePath: null,
    knownVulnerabilities: null,
    ...given,
  };
}

/** A folder for one test file's indexes. */
export function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "strata-"));
}

export const NO_META = { lastIndexedCommit: null, lastIndexedDate: null } as const;
