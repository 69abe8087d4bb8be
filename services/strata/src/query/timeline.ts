import { setImmediate as nextTurn } from "node:timers/promises";
import type { OpenIndex } from "../store/index.js";

/** What the index held in one month; the field names are the API's. */
export interface TimelineMonth {
  month: string;
  packages: number;
  new_versions: number;
  total_versions: number;
}

/** Rows counted before other requests get their turn: about a millisecond of work. */
const ROWS_PER_TURN = 50_000;
/** A commit is 40 characters of hash and 20 of timestamp. */
const HASH_LENGTH = 40;
const COMMIT_LENGTH = 60;

/** Counts packages and new versions for each month from the oldest to the newest commit. */
export async function drawTimeline(index: OpenIndex): Promise<TimelineMonth[]> {
  const monthOfCommit = readMonths(index.bytes("commits"));
  const [rowEntry, rowFirst, rowLast] = [
    index.numbers("rowEntry"),
    index.numbers("rowFirstCommit"),
    index.numbers("rowLastCommit"),
  ];
  const pathOfEntry = index.numbers("entryAttributePath");
  if (rowEntry.length === 0) return [];
  const oldest = monthOfCommit[0]!;
  const count = monthOfCommit.at(-1)! - oldest + 1;
  const packages = new Uint32Array(count);
  const newVersions = new Uint32Array(count);
  // The path that was last counted in each month: rows of one path lie together, so each path counts once a month.
  const counted = new Int32Array(count).fill(-1);
  for (let row = 0; row < rowEntry.length; row++) {
    const path = pathOfEntry[rowEntry[row]!]!;
    const first = monthOfCommit[rowFirst[row]!]! - oldest;
    const last = monthOfCommit[rowLast[row]!]! - oldest;
    newVersions[first]!++;
    for (let month = first; month <= last; month++) {
      if (counted[month] === path) continue;
      counted[month] = path;
      packages[month]!++;
    }
    if (row % ROWS_PER_TURN === ROWS_PER_TURN - 1) await nextTurn();
  }
  let total = 0;
  return Array.from(packages, (alive, at) => {
    total += newVersions[at]!;
    const month = nameMonth(oldest + at);
    return { month, packages: alive, new_versions: newVersions[at]!, total_versions: total };
  });
}

/** Commits are sorted by date. Months are counted from the year 0. */
function readMonths(commits: Uint8Array): Uint32Array {
  const text = Buffer.from(commits.buffer, commits.byteOffset, commits.length);
  return Uint32Array.from({ length: commits.length / COMMIT_LENGTH }, (_, commit) => {
    const at = commit * COMMIT_LENGTH + HASH_LENGTH;
    return Number(text.toString("latin1", at, at + 4)) * 12 + Number(text.toString("latin1", at + 5, at + 7)) - 1;
  });
}

function nameMonth(month: number): string {
  return `${String(Math.floor(month / 12)).padStart(4, "0")}-${String((month % 12) + 1).padStart(2, "0")}`;
}
