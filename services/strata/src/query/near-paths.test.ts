import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeIndex } from "../store/index.js";
import { makeFolder, makeRecord, NO_META } from "../testing/make-records.js";
import { type NotFound, PackageIndex } from "./package-index.js";

let folder: string;
let index: PackageIndex;
/** So many paths begin alike that only few of them can be compared. */
const crowd = Array.from({ length: 2000 }, (_, i) => `python3Packages.tool-${i}-of-many`);
const others = ["pyh", "python", "python3", "python38", "ruby", "été"];

beforeAll(async () => {
  folder = await makeFolder();
  const path = join(folder, "near.strata");
  const records = [...crowd, ...others].map((attributePath) => makeRecord({ attributePath }));
  await writeIndex(records, NO_META, path);
  index = await PackageIndex.open(path);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("near paths in a large index", () => {
  it.each([
    ["pyhton", "python"],
    ["pythno", "python"],
    ["ypthon", "python"],
    ["pyython", "python"],
    ["pthon", "python"],
    ["qython", "python"],
    ["python3.8", "python38"],
    ["rubyy", "ruby"],
    ["uby", "ruby"],
    ["étè", "été"],
    ["python3Packages.tol-77-of-many", "python3Packages.tool-77-of-many"],
    ["Python3Packages.tool-77-of-many", "python3Packages.tool-77-of-many"],
  ])("%s: %s", (asked, meant) => {
    const found = index.findPackage(asked);
    expect(found).toMatchObject({ missing: "package" });
    expect((found as NotFound).near).toContain(meant);
  });

  it("nonsense has none", () => {
    expect(index.findPackage("zzzzzzzz")).toEqual({ missing: "package", near: [] });
    expect(index.findPackage("")).toMatchObject({ missing: "package" });
  });
});
