import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RangeRecord } from "../store/index.js";
import { deriveRanges } from "./derive-ranges.js";
import { Observations } from "./observations.js";
import { testCommit } from "./testing/make-packages.js";

/** One snapshot: which version, with which description, each package has at a day of a channel. */
interface Seen {
  channel: string;
  day: number;
  packages: Record<string, { version: string; description: string }>;
}

function observe(snapshots: readonly Seen[]): Observations {
  const observations = new Observations();
  for (const { channel, day, packages } of snapshots) {
    const records = Object.entries(packages).map(([path, { version, description }]) =>
      observations.records.numberOf(path, {
        name: path,
        version,
        description,
        license: null,
        homepage: null,
        maintainers: null,
        platforms: null,
        sourcePath: null,
        knownVulnerabilities: null,
      }),
    );
    const snapshot = { commit: testCommit(day), date: day, packages: records.length, dropped: 0 };
    observations.add(channel, snapshot, Int32Array.from(records));
  }
  return observations;
}

const short = ({ attributePath, version, description, firstCommitDate, lastCommitDate }: RangeRecord) =>
  `${attributePath} ${version} ${firstCommitDate}-${lastCommitDate} ${description}`;

const ranges = (snapshots: readonly Seen[]) => [...deriveRanges(observe(snapshots))].map(short);

const one = (channel: string, day: number, version: string | null, description = "d"): Seen => ({
  channel,
  day,
  packages: version === null ? {} : { a: { version, description } },
});

describe("ranges", () => {
  it("last from the first to the last observation", () => {
    expect(ranges([one("u", 1, "1"), one("u", 2, "1"), one("u", 3, "2")])).toEqual(["a 1 1-2 d", "a 2 3-3 d"]);
  });

  it("end when a snapshot of the same channel lacks the version, and start again when it returns", () => {
    expect(ranges([one("u", 1, "1"), one("u", 2, null), one("u", 3, "1")])).toEqual(["a 1 1-1 d", "a 1 3-3 d"]);
    expect(ranges([one("u", 1, "1"), one("u", 2, "2"), one("u", 3, "1")])).toEqual([
      "a 1 1-1 d",
      "a 1 3-3 d",
      "a 2 2-2 d",
    ]);
  });

  it("are split by a snapshot that arrives late", () => {
    expect(ranges([one("u", 1, "1"), one("u", 3, "1"), one("u", 2, null)])).toEqual(["a 1 1-1 d", "a 1 3-3 d"]);
  });

  it("carry the facts of their latest observation, also after a split", () => {
    const seen = [one("u", 1, "1", "x"), one("u", 2, "1", "y"), one("u", 4, "1", "z"), one("u", 3, null)];
    expect(ranges(seen)).toEqual(["a 1 1-2 y", "a 1 4-4 z"]);
  });

  it("of two channels that overlap are one", () => {
    const seen = [one("u", 1, "1"), one("u", 3, "1"), one("u", 4, "2"), one("s", 2, "1", "s"), one("s", 6, "1", "s")];
    expect(ranges(seen)).toEqual(["a 1 1-6 s", "a 2 4-4 d"]);
  });

  it("of two channels with nothing observed missing between them are one", () => {
    expect(ranges([one("u", 1, "1"), one("u", 2, "2"), one("s", 5, "1")])).toEqual(["a 1 1-5 d", "a 2 2-2 d"]);
  });

  it("stay whole when one channel lacks what another has meanwhile", () => {
    const seen = [one("u", 1, "1"), one("u", 3, null), one("u", 5, "1"), one("s", 1, "1"), one("s", 5, "1")];
    expect(ranges(seen)).toEqual(["a 1 1-5 d"]);
  });
});

/** The rules once more, by brute force over every moment: what the real thing must agree with. */
function bruteForce(snapshots: readonly Seen[]): string[] {
  const result: string[] = [];
  const keys = new Set(
    snapshots.flatMap(({ packages }) => Object.entries(packages).map(([path, { version }]) => `${path} ${version}`)),
  );
  for (const key of [...keys].sort()) {
    const [path, version] = key.split(" ") as [string, string];
    const has = (seen: Seen) => seen.packages[path]?.version === version;
    const days = [...new Set(snapshots.map(({ day }) => day))].sort((a, b) => a - b);
    const channels = [...new Set(snapshots.map(({ channel }) => channel))].sort();
    /** Is the version there at this day in this channel: seen, or between two sightings with nothing else between? */
    const isThere = (channel: string, day: number) => {
      const own = snapshots.filter((seen) => seen.channel === channel).sort((a, b) => a.day - b.day);
      const before = own.filter((seen) => seen.day <= day).at(-1);
      const after = own.find((seen) => seen.day >= day);
      return before !== undefined && after !== undefined && has(before) && has(after);
    };
    const present = days.filter((day) => channels.some((channel) => isThere(channel, day)));
    let start = present[0]!;
    const close = (end: number) => {
      const seen = snapshots.filter((one) => one.day <= end && one.day >= start && has(one));
      const last = seen.sort((a, b) => b.day - a.day || (a.channel < b.channel ? -1 : 1))[0]!;
      result.push(`${path} ${version} ${start}-${end} ${last.packages[path]!.description}`);
    };
    for (let at = 1; at < present.length; at++) {
      const [from, to] = [present[at - 1]!, present[at]!];
      const wasSeenMissing = channels.some((channel) => {
        const own = snapshots.filter((seen) => seen.channel === channel);
        return (
          own.some((seen) => seen.day > from && seen.day < to) &&
          own.some((seen) => seen.day <= from && has(seen)) &&
          own.some((seen) => seen.day >= to && has(seen))
        );
      });
      if (wasSeenMissing) {
        close(from);
        start = to;
      }
    }
    close(present.at(-1)!);
  }
  return result;
}

const packages = fc.dictionary(
  fc.constantFrom("a", "b"),
  fc.record({ version: fc.constantFrom("1", "2"), description: fc.constantFrom("x", "y") }),
);
const history = fc.uniqueArray(
  fc.record({ channel: fc.constantFrom("u", "s", "t"), day: fc.integer({ min: 1, max: 12 }), packages }),
  { maxLength: 20, selector: ({ channel, day }) => `${channel} ${day}` },
);

describe("any order of arrival", () => {
  it("gives the ranges that brute force gives", () => {
    fc.assert(
      fc.property(history, fc.infiniteStream(fc.nat()), (snapshots, order) => {
        const shuffled = snapshots.map((seen) => ({ seen, key: order.next().value! })).sort((a, b) => a.key - b.key);
        expect(ranges(shuffled.map(({ seen }) => seen))).toEqual(bruteForce(snapshots));
      }),
      { numRuns: 600 },
    );
  });
});
