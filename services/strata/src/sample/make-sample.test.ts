import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { RangeRecord } from "../store/index.js";
import { sampleRanges, sampleWeeks } from "./make-sample.js";
import { parseSeed, SeedError } from "./parse-seed.js";

const seed = readFileSync(new URL("./seed.txt", import.meta.url), "utf8");
const all = [...sampleRanges(parseSeed(seed))];
const of = (path: string) => all.filter((range) => range.attributePath === path);
const versions = (ranges: RangeRecord[]) => ranges.map(({ version }) => version);

describe("the sample", () => {
  it("has a few hundred packages over ten years, and nothing but weeks it knows", () => {
    const paths = new Set(all.map(({ attributePath }) => attributePath));
    expect(paths.size).toBeGreaterThan(400);
    expect(all.length).toBeGreaterThan(9000);
    const weeks = new Map(sampleWeeks().map(({ commit, date }) => [commit, date]));
    for (const range of all) {
      expect(weeks.get(range.firstCommitHash)).toBe(range.firstCommitDate);
      expect(weeks.get(range.lastCommitHash)).toBe(range.lastCommitDate);
      expect(range.lastCommitDate).toBeGreaterThanOrEqual(range.firstCommitDate);
      expect(range.version).not.toMatch(/[{}]|SERIES|undefined|NaN/);
    }
  });

  it("never has two versions of a package at once", () => {
    const ends = new Map<string, number>();
    for (const { attributePath, firstCommitDate, lastCommitDate } of all) {
      expect(firstCommitDate).toBeGreaterThan(ends.get(attributePath) ?? 0);
      ends.set(attributePath, lastCommitDate);
    }
  });

  it("is the same every time", () => {
    expect([...sampleRanges(parseSeed(seed))]).toEqual(all);
  });

  it("has what makes a history worth looking at", () => {
    expect(versions(of("xz")).filter((version) => version === "5.4.6")).toHaveLength(2);
    expect(of("xz").find(({ version }) => version === "5.6.1")!.knownVulnerabilities![0]).toContain("CVE-2024-3094");
    expect(versions(of("linuxPackages_6_1.kernel"))).toContain("6.1.1");
    expect(of("python35")!.at(-1)!.lastCommitDate).toBeLessThan(Date.UTC(2021, 1, 1) / 1000);
    expect(of("vscode")[0]!.platforms).toEqual(["x86_64-linux"]);
  });
});

describe("a seed", () => {
  const parse = (history: string) => parseSeed(`a | MIT | h | d | ${history}`)[0]!.events.map(({ version }) => version);
  it("spells out runs of versions", () => {
    expect(parse("1.{8..10}.2@2020-01~2020-03")).toEqual(["1.8.2", "1.9.2", "1.10.2"]);
    expect(parse("1{a..c}@2020-01~2020-03 end@2020-05")).toEqual(["1a", "1b", "1c", null]);
    expect(parse("20{01..09/4}@2020-01~2020-03")).toEqual(["2001", "2005", "2009"]);
  });
  it.each(["1.0", "1.{3..2}@2020-01~2020-02", "1.{1..2}@2020-01", "{a..5}@2020-01~2020-02", "@2020-01"])(
    "refuses %s",
    (history) => {
      expect(() => parse(history)).toThrow(SeedError);
    },
  );
  it("refuses a group that is not there and a line that is too short", () => {
    expect(() => parseSeed("[x]a | MIT | h | d | 1@2020-01")).toThrow(/Line 1.*no group/);
    expect(() => parseSeed("a | MIT")).toThrow(/less than five fields/);
  });
});
