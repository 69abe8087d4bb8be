import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openIndex, type RangeRecord, writeIndex } from "../store/index.js";
import { applyDelta, DeltaError, readDeltaHeader, writeDelta } from "./index-delta.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-delta-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const commit = (day: number) => day.toString(16).padStart(40, "0");

const record = fc
  .record({
    attributePath: fc.constantFrom("a", "b.c", "B", "z😀", "z\ufffd"),
    version: fc.constantFrom("1", "2", "10"),
    description: fc.constantFrom(null, "one", "two"),
    first: fc.integer({ min: 1, max: 5 }),
    length: fc.integer({ min: 0, max: 5 }),
    knownVulnerabilities: fc.constantFrom(null, ["CVE-1"]),
  })
  .map(
    ({ first, length, ...rest }): RangeRecord => ({
      ...rest,
      name: rest.attributePath,
      license: rest.description === "two" ? "MIT" : null,
      firstCommitHash: commit(first),
      firstCommitDate: first,
      lastCommitHash: commit(first + length),
      lastCommitDate: first + length,
      homepage: null,
      maintainers: null,
      platforms: null,
      sourcePath: null,
    }),
  );
const records = fc.array(record, { maxLength: 12 });

async function* asLines(lines: Iterable<string>): AsyncGenerator<string> {
  yield* lines;
}

async function make(name: string, content: RangeRecord[], day: number) {
  const path = join(folder, name);
  await writeIndex(
    content,
    { lastIndexedCommit: commit(day), lastIndexedDate: day, notes: { day: String(day) } },
    path,
  );
  return openIndex(path);
}

describe("a difference between two indexes", () => {
  it("leads from the old one to exactly the new one", async () => {
    await fc.assert(
      fc.asyncProperty(records, records, async (before, after) => {
        const from = await make("from", before, 20);
        const to = await make("to", after, 21);
        const [head, ...rest] = writeDelta(from, to);
        const header = readDeltaHeader(head!, from.header.fingerprint);
        await writeIndex(applyDelta(from, asLines(rest)), header.meta, join(folder, "made"));
        expect(readFileSync(join(folder, "made")).equals(readFileSync(join(folder, "to")))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("is short when a day only makes everything a day older", async () => {
    const day = (last: number) =>
      Array.from(
        { length: 2000 },
        (_, at): RangeRecord => ({
          attributePath: `p${at}`,
          name: `p${at}`,
          version: "1",
          description: `package ${at}`,
          license: "MIT",
          firstCommitHash: commit(1),
          firstCommitDate: 1,
          lastCommitHash: commit(last),
          lastCommitDate: last,
          homepage: null,
          maintainers: null,
          platforms: null,
          sourcePath: null,
          knownVulnerabilities: null,
        }),
      );
    const lines = [...writeDelta(await make("from", day(5), 5), await make("to", day(6), 6))];
    expect(lines).toHaveLength(2);
    expect(lines[1]).toBe(`>2000 ["${commit(6)}",6]`);
  });

  it("refuses the wrong index, a wrong format and lines that mean nothing", async () => {
    const from = await make("from", [], 1);
    const [head] = writeDelta(from, from);
    expect(() => readDeltaHeader(head!, "0".repeat(16))).toThrow(DeltaError);
    expect(() => readDeltaHeader('{"format":9}', "")).toThrow(DeltaError);
    for (const line of ["=1", "=0", "=x", "?", "-2"]) {
      const apply = async () => {
        for await (const _ of applyDelta(from, asLines([line]))) {
          // the error is what matters
        }
      };
      await expect(apply(), line).rejects.toThrow(DeltaError);
    }
  });
});
