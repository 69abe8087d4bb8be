import { copyFile, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeFolder, makeRecord, NO_META } from "../testing/make-records.js";
import { FORMAT_NUMBER } from "./file-format.js";
import {
  IndexFileError,
  InvalidRecordError,
  openIndex,
  type RangeRecord,
  readIndexHeader,
  readRecords,
  writeIndex,
} from "./index.js";

let folder: string;
let file: string;
const records = Array.from({ length: 300 }, (_, i) =>
  makeRecord({
    attributePath: i % 3 === 0 ? `python3Packages.lib${i % 40}` : `tool-${i % 70}`,
    version: `${i % 7}.${i % 11}`,
    description: `Tool number ${i}`,
    license: i % 2 === 0 ? "MIT" : null,
    lastCommitDate: 1_650_000_000 + i * 60,
  }),
);

beforeAll(async () => {
  folder = await makeFolder();
  file = join(folder, "sound.strata");
  await writeIndex(records, NO_META, file);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function refusalOf(path: string): Promise<IndexFileError> {
  const error = await openIndex(path).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(IndexFileError);
  return error as IndexFileError;
}

describe("writing", () => {
  it("gives the same bytes for any order of the records, from any kind of iterable", async () => {
    const again = join(folder, "again.strata");
    async function* backwards(): AsyncGenerator<RangeRecord> {
      yield* records.toReversed();
    }
    await writeIndex(backwards(), NO_META, again);
    expect((await readFile(again)).equals(await readFile(file))).toBe(true);
  });

  it("gives another fingerprint for other content or other meta", async () => {
    const other = join(folder, "other.strata");
    const { fingerprint } = await readIndexHeader(file);
    await writeIndex(records.slice(1), NO_META, other);
    expect((await readIndexHeader(other)).fingerprint).not.toBe(fingerprint);
    await writeIndex(records, { ...NO_META, sample: true, notes: { channel: "test" } }, other);
    const header = await readIndexHeader(other);
    expect(header.fingerprint).not.toBe(fingerprint);
    expect(header.meta).toEqual({ sample: true, notes: { channel: "test" } });
  });

  it("leaves the old file and no other when it fails or is stopped", async () => {
    const place = await makeFolder();
    const path = join(place, "index.strata");
    await writeIndex(records, NO_META, path);
    const before = await readFile(path);
    const stop = new AbortController();
    stop.abort();
    await expect(writeIndex(records, NO_META, path, { signal: stop.signal })).rejects.toThrow();
    await expect(writeIndex([makeRecord({ attributePath: "" })], NO_META, path)).rejects.toThrow(InvalidRecordError);
    expect(await readdir(place)).toEqual(["index.strata"]);
    expect((await readFile(path)).equals(before)).toBe(true);
    await rm(place, { recursive: true });
  });

  it.each<[string, Partial<RangeRecord>, string]>([
    ["an empty path", { attributePath: "" }, "attributePath"],
    ["a NUL", { name: "a\0b" }, "name"],
    ["a short hash", { firstCommitHash: "abc" }, "firstCommitHash"],
    ["upper-case hex", { lastCommitHash: "A".repeat(40) }, "lastCommitHash"],
    ["a fraction of a second", { firstCommitDate: 1.5 }, "firstCommitDate"],
    ["an end before its start", { lastCommitDate: 5 }, "lastCommitDate"],
    ["a list that is none", { platforms: "linux" as unknown as string[] }, "platforms"],
  ])("refuses %s and names the field", async (_, given, field) => {
    const record = { ...makeRecord({ attributePath: "x" }), ...given };
    await expect(writeIndex([record], NO_META, join(folder, "bad.strata"))).rejects.toThrow(field);
  });

  it("takes half a surrogate pair for U+FFFD, wherever it stands", async () => {
    const path = join(folder, "halves.strata");
    const spelled = (half: string) =>
      makeRecord({
        attributePath: `a${half}`,
        name: `n${half}`,
        version: `1${half}`,
        description: `d${half}`,
        license: `l${half}`,
        maintainers: [`m${half}`, "m"],
      });
    const { statistics } = await writeIndex([spelled("\ud800"), spelled("\ufffd")], NO_META, path);
    expect(statistics).toMatchObject({ totalRanges: 2, uniqueNames: 1, uniqueVersions: 1 });
    const [first, second] = [...readRecords(await openIndex(path))];
    expect(first).toEqual({ ...spelled("\ufffd"), id: 1 });
    expect(second).toEqual({ ...spelled("\ufffd"), id: 2 });
  });

  it("keeps an empty index", async () => {
    const empty = join(folder, "empty.strata");
    const { statistics } = await writeIndex([], NO_META, empty);
    expect(statistics).toMatchObject({ totalRanges: 0, oldestCommitDate: null, lastIndexedCommit: null });
    expect([...readRecords(await openIndex(empty))]).toEqual([]);
  });
});

describe("a file that is no sound index is refused, with what it is and what to do", () => {
  it("missing", async () => {
    const error = await refusalOf(join(folder, "nowhere.strata"));
    expect(error.reason).toBe("missing");
    expect(error.message).toMatch(/no index at .*nowhere.*strata (ingest|sync)/s);
  });

  it.each<[string, Buffer, RegExp]>([
    ["empty", Buffer.alloc(0), /empty file/],
    ["SQLite", Buffer.from("SQLite format 3\0and more bytes to come"), /SQLite database/],
    ["JSON", Buffer.from('{"packages": {"a": {"b": "c"}}}'), /JSON file/],
    ["gzip", Buffer.from([0x1f, 0x8b, ...new Array<number>(30).fill(1)]), /gzip/],
    ["random", Buffer.from("x".repeat(4096)), /another kind/],
  ])("foreign: %s", async (name, bytes, told) => {
    const path = join(folder, `${name}.foreign`);
    await writeFile(path, bytes);
    const error = await refusalOf(path);
    expect(error.reason).toBe("foreign");
    expect(error.message).toMatch(told);
  });

  it.each([
    ["newer", FORMAT_NUMBER + 1, /this program reads format \d+\. Update strata/],
    ["older", FORMAT_NUMBER - 1, /old format \d+; this program reads format \d+\. Make or fetch a new one/],
  ] as const)("of a %s format", async (reason, format, told) => {
    const path = join(folder, `${reason}.strata`);
    const bytes = await readFile(file);
    bytes.writeUInt32LE(format, 8);
    await writeFile(path, bytes);
    const error = await refusalOf(path);
    expect(error.reason).toBe(reason);
    expect(error.message).toMatch(told);
  });

  it("cut off anywhere", async () => {
    const path = join(folder, "cut.strata");
    const { length } = await readFile(file);
    for (const kept of [length - 1, length >> 1, 20_000, 100, 21]) {
      await copyFile(file, path);
      await truncate(path, kept);
      const error = await refusalOf(path);
      expect(error.reason, `${kept} of ${length} bytes`).toBe("truncated");
      expect(error.message).toContain("cut off");
    }
  });

  it("with bytes too many", async () => {
    const path = join(folder, "long.strata");
    await writeFile(path, Buffer.concat([await readFile(file), Buffer.from("more")]));
    expect((await refusalOf(path)).reason).toBe("damaged");
  });

  it("with any single byte of header or content changed", async () => {
    const path = join(folder, "flipped.strata");
    const bytes = await readFile(file);
    const { sections } = await readIndexHeader(file);
    const places = [20, 40, 700, ...sections.filter((section) => section.bytes > 0).map((section) => section.offset)];
    for (const place of places) {
      const flipped = Buffer.from(bytes);
      flipped[place]! ^= 0x40;
      await writeFile(path, flipped);
      expect((await refusalOf(path)).reason, `byte ${place}`).toBe("damaged");
    }
  });

  it("a directory", async () => {
    expect((await refusalOf(folder)).reason).toBe("unreadable");
  });
});
