import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openIndex, type RangeRecord, writeIndex } from "../store/index.js";
import { drawTimeline } from "./timeline.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-timeline-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function range(attributePath: string, version: string, first: string, last: string): RangeRecord {
  const commit = (day: string) => day.replaceAll("-", "").padEnd(40, "0");
  const nothing = { description: null, license: null, homepage: null, maintainers: null, platforms: null };
  return {
    attributePath,
    name: attributePath,
    version,
    ...nothing,
    sourcePath: null,
    knownVulnerabilities: null,
    firstCommitHash: commit(first),
    firstCommitDate: Date.parse(first) / 1000,
    lastCommitHash: commit(last),
    lastCommitDate: Date.parse(last) / 1000,
  };
}

async function draw(ranges: RangeRecord[]) {
  await writeIndex(ranges, { lastIndexedCommit: null, lastIndexedDate: null }, join(folder, "index"));
  return drawTimeline(await openIndex(join(folder, "index")));
}

describe("the timeline", () => {
  it("counts each package once a month, and each version when it begins", async () => {
    const months = await draw([
      range("a", "1", "2020-11-03", "2021-01-05"),
      range("a", "2", "2021-01-06", "2021-02-01"),
      range("a", "1", "2021-01-20", "2021-01-25"),
      range("b", "1", "2021-02-10", "2021-02-10"),
    ]);
    expect(months).toEqual([
      { month: "2020-11", packages: 1, new_versions: 1, total_versions: 1 },
      { month: "2020-12", packages: 1, new_versions: 0, total_versions: 1 },
      { month: "2021-01", packages: 1, new_versions: 2, total_versions: 3 },
      { month: "2021-02", packages: 2, new_versions: 1, total_versions: 4 },
    ]);
  });

  it("is empty for an empty index", async () => {
    expect(await draw([])).toEqual([]);
  });
});
