import type { Channel, Observations, Snapshot } from "./observations.js";
import type { RecordTable } from "./record-table.js";

/**
 * Looks at a snapshot before it becomes history. An evaluation that went half wrong still makes a well-formed package list, and taking it in would end the life of
 * everything it lacks.
 */

/** Packages that every real tree has, under these very paths, in every year. */
export const SENTINEL_PACKAGES = ["bash", "coreutils", "curl", "git", "hello", "vim"] as const;

const DAY = 24 * 60 * 60;
/** Snapshots further apart than this may differ as they like: nixpkgs changes by more than the gates allow within months. */
const NEIGHBOUR_DAYS = 45;
/** How many snapshots nearest in time make up the size that is expected. */
const SIZE_NEIGHBOURS = 5;
/** A tree does not lose a fifth of its packages between releases. */
const SMALLEST_SHARE = 0.8;
/** It may grow by a whole package set (R and Haskell were added in one day), but hardly by more. */
const LARGEST_SHARE = 1.5;
/** Attribute paths of the neighbouring snapshot that are gone. */
const MOST_DEATHS = 0.05;
/** About 3 % of real entries (scripts, wrappers, hooks) have no version. */
const MOST_WITHOUT_VERSION = 0.25;

export interface Candidate {
  snapshot: Snapshot;
  records: Int32Array;
}

export interface GateOptions {
  /** Attribute paths that must be there. */
  sentinels: readonly string[];
}

/** What is wrong with the candidate as part of its channel; empty when nothing is. */
export function checkQuality(
  observations: Observations,
  channel: Channel,
  candidate: Candidate,
  options: GateOptions,
): string[] {
  const { records } = observations;
  const problems = [...checkContents(records, candidate, options)];
  const expected = expectedSize(channel, candidate.snapshot);
  if (expected !== null) {
    problems.push(...checkSize(candidate.snapshot.packages, expected));
  }
  const { before, after } = channel.neighbours(candidate.snapshot);
  if (before >= 0 && isNear(channel.snapshots[before]!, candidate.snapshot)) {
    const earlier = { snapshot: channel.snapshots[before]!, records: channel.recordsOf(before) };
    problems.push(...checkDeaths(records, earlier, candidate));
  }
  if (after >= 0 && isNear(channel.snapshots[after]!, candidate.snapshot)) {
    const later = { snapshot: channel.snapshots[after]!, records: channel.recordsOf(after) };
    problems.push(...checkDeaths(records, candidate, later));
  }
  return problems;
}

/** Do two snapshots that both look odd agree with each other? Then the change is real. */
export function confirmEachOther(records: RecordTable, a: Candidate, b: Candidate): boolean {
  const [earlier, later] = a.snapshot.date <= b.snapshot.date ? [a, b] : [b, a];
  return (
    isNear(earlier.snapshot, later.snapshot) &&
    checkSize(later.snapshot.packages, earlier.snapshot.packages).length === 0 &&
    checkDeaths(records, earlier, later).length === 0
  );
}

/** Things that no neighbour can confirm. */
export function checkContents(records: RecordTable, candidate: Candidate, options: GateOptions): string[] {
  const { packages, dropped } = candidate.snapshot;
  if (packages === 0) {
    return ["it holds no package with a version"];
  }
  const problems: string[] = [];
  const withoutVersion = dropped / (packages + dropped);
  if (withoutVersion > MOST_WITHOUT_VERSION) {
    problems.push(
      `${percent(withoutVersion)} of its entries have no version (${percent(MOST_WITHOUT_VERSION)} are allowed)`,
    );
  }
  const present = markAttributes(records, candidate.records);
  const missing = options.sentinels.filter((path) => present[records.dictionaries.attributePath.find(path) ?? 0] !== 1);
  if (missing.length > 0) {
    problems.push(`it lacks ${missing.join(", ")}, which every whole tree has`);
  }
  return problems;
}

function checkSize(packages: number, expected: number): string[] {
  const share = packages / expected;
  if (share >= SMALLEST_SHARE && share <= LARGEST_SHARE) {
    return [];
  }
  return [
    `it has ${packages} packages where the snapshots around it have about ${expected} (${percent(SMALLEST_SHARE)} to ${percent(LARGEST_SHARE)} of that are allowed)`,
  ];
}

function checkDeaths(records: RecordTable, earlier: Candidate, later: Candidate): string[] {
  const attributeOf = records.columns.attributePath.view();
  const alive = markAttributes(records, later.records);
  let deaths = 0;
  for (const record of earlier.records) {
    deaths += 1 - alive[attributeOf[record]!]!;
  }
  const share = deaths / Math.max(1, earlier.records.length);
  if (share <= MOST_DEATHS) {
    return [];
  }
  const days = Math.round(Math.abs(later.snapshot.date - earlier.snapshot.date) / DAY);
  return [
    `${deaths} of ${earlier.records.length} packages (${percent(share)}) vanish between ${describe(earlier.snapshot)} and ${describe(later.snapshot)}, ${days} days later (${percent(MOST_DEATHS)} are allowed)`,
  ];
}

/** Median size of the snapshots nearest in time; null when none is near. */
function expectedSize(channel: Channel, at: Snapshot): number | null {
  const near = channel.snapshots
    .filter((snapshot) => isNear(snapshot, at))
    .sort((a, b) => Math.abs(a.date - at.date) - Math.abs(b.date - at.date))
    .slice(0, SIZE_NEIGHBOURS)
    .map((snapshot) => snapshot.packages)
    .sort((a, b) => a - b);
  return near[near.length >> 1] ?? null;
}

/** Marks, by number of the attribute path, what these records are about. */
function markAttributes(records: RecordTable, marked: Int32Array): Uint8Array {
  const attributeOf = records.columns.attributePath.view();
  const marks = new Uint8Array(records.dictionaries.attributePath.strings.length);
  for (const record of marked) {
    marks[attributeOf[record]!] = 1;
  }
  return marks;
}

function isNear(a: Snapshot, b: Snapshot): boolean {
  return Math.abs(a.date - b.date) <= NEIGHBOUR_DAYS * DAY;
}

function describe(snapshot: Snapshot): string {
  return `${snapshot.commit.slice(0, 12)} (${new Date(snapshot.date * 1000).toISOString().slice(0, 10)})`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
