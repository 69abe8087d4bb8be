import { createHash } from "node:crypto";
import type { RangeRecord } from "../store/index.js";
import type { SeedPackage } from "./parse-seed.js";

/** Turns the seed into version ranges, as if a channel had been looked at once a week. Everything follows from the seed, the commits too. */

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;
const FIRST_WEEK = Date.UTC(2016, 0, 5, 12);
const LAST_WEEK = Date.UTC(2026, 5, 2, 12);

const EVERYWHERE = ["aarch64-darwin", "aarch64-linux", "i686-linux", "x86_64-darwin", "x86_64-linux"];
const LINUX_ON_PC = ["x86_64-linux"];

interface Week {
  commit: string;
  /** Unix seconds. */
  date: number;
}

/** The weekly looks, with commits that are made up but always the same. */
export function sampleWeeks(): Week[] {
  const weeks: Week[] = [];
  for (let time = FIRST_WEEK; time <= LAST_WEEK; time += WEEK_MS) {
    // Not to the second at the same hour: real releases are not either.
    const minute = hashNumber(`minute ${time}`) % (12 * 60);
    const commit = createHash("sha1").update(`strata sample ${time}`).digest("hex");
    weeks.push({ commit, date: time / 1000 + minute * 60 });
  }
  return weeks;
}

export function* sampleRanges(packages: readonly SeedPackage[]): Generator<RangeRecord> {
  const weeks = sampleWeeks();
  for (const one of packages) {
    yield* rangesOf(one, weeks);
  }
}

function* rangesOf(one: SeedPackage, weeks: readonly Week[]): Generator<RangeRecord> {
  let open: { version: string; first: number; last: number } | null = null;
  for (let week = 0; week < weeks.length; week++) {
    const version = versionAt(one, weeks[week]!.date * 1000);
    if (open !== null && open.version === version) {
      open.last = week;
      continue;
    }
    if (open !== null) {
      yield makeRange(one, open.version, weeks[open.first]!, weeks[open.last]!);
    }
    open = version === null ? null : { version, first: week, last: week };
  }
  if (open !== null) {
    yield makeRange(one, open.version, weeks[open.first]!, weeks[open.last]!);
  }
}

/** Packages are updated some days after the months of the seed, each after its own number of days. */
function versionAt({ attributePath, events }: SeedPackage, time: number): string | null {
  const delay = (hashNumber(attributePath) % 25) * DAY_MS;
  let version: string | null = null;
  for (const event of events) {
    if (event.time + delay > time) {
      break;
    }
    version = event.version;
  }
  return version;
}

function makeRange(one: SeedPackage, version: string, first: Week, last: Week): RangeRecord {
  const { attributePath, name, license, homepage, description } = one;
  const reasons = one.insecure.filter(({ prefix }) => version.startsWith(prefix)).map(({ reason }) => reason);
  return {
    attributePath,
    name,
    version,
    description,
    license,
    homepage,
    firstCommitHash: first.commit,
    firstCommitDate: first.date,
    lastCommitHash: last.commit,
    lastCommitDate: last.date,
    maintainers: null,
    platforms: license === "unfree" ? LINUX_ON_PC : EVERYWHERE,
    sourcePath: sourcePath(attributePath),
    knownVulnerabilities: reasons.length === 0 ? null : reasons,
  };
}

function sourcePath(attributePath: string): string {
  const parts = attributePath.split(".");
  const leaf = parts.pop()!;
  return parts.length === 0
    ? `pkgs/by-name/${leaf.slice(0, 2).toLowerCase()}/${leaf}/package.nix`
    : `pkgs/development/${parts.join("/")}/${leaf}/default.nix`;
}

function hashNumber(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32LE();
}
