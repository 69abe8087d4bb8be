import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openIndex, readRecords } from "../store/index.js";
import { ForeignIndexError, IngestSession, QualityGateError } from "./ingest-session.js";
import { ObservationsFileError } from "./observations-file.js";
import { SENTINEL_PACKAGES } from "./quality-gates.js";
import { openPackageList } from "./read-snapshot.js";
import {
  compressedPackageList,
  inPieces,
  packageEntry,
  packageList,
  type TestPackage,
  testCommit,
} from "./testing/make-packages.js";
import { WorkFolderBusyError } from "./work-folder.js";

let folder: string;
let indexPath: string;
const notes: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-ingest-"));
  indexPath = join(folder, "index.strata");
  notes.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const DAY = 24 * 60 * 60;
const date = (day: number) => Date.UTC(2022, 0, day) / 1000;

function open(path = indexPath, options: { force?: boolean } = {}): IngestSession {
  return new IngestSession({
    indexPath: path,
    force: options.force ?? false,
    sentinels: SENTINEL_PACKAGES,
    log: (line) => notes.push(line),
  });
}

const take = (session: IngestSession, day: number, packages: Record<string, TestPackage>, channel = "unstable") =>
  session.ingest({ channel, commit: testCommit(day), date: date(day), open: () => inPieces(packageList(packages)) });

const many = (count: number, version = "1.0", prefix = "p") =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, { version }]));

async function readBack(path = indexPath) {
  return [...readRecords(await openIndex(path))].map(
    ({ attributePath, version, firstCommitDate, lastCommitDate }) =>
      `${attributePath} ${version} ${(firstCommitDate - date(0)) / DAY}-${(lastCommitDate - date(0)) / DAY}`,
  );
}

describe("an ingest", () => {
  it("makes an index of ranges", async () => {
    const session = open();
    await take(session, 1, { "a.b": { version: "1.0" } });
    await take(session, 2, { "a.b": { version: "1.1" } });
    expect(await session.writeIndex()).toBe(true);
    expect(await session.writeIndex()).toBe(false);
    session.close();
    expect((await readBack()).filter((line) => /^(a\.b|hello)/.test(line)).sort()).toEqual([
      "a.b 1.0 1-1",
      "a.b 1.1 2-2",
      "hello 1.0 1-2",
    ]);
    const { statistics } = (await openIndex(indexPath)).header;
    expect(statistics).toMatchObject({ lastIndexedCommit: testCommit(2), lastIndexedDate: date(2) });
  });

  it("gives byte-identical indexes whatever the order and however often it is interrupted", async () => {
    const days = Array.from({ length: 12 }, (_, at) => at + 1);
    const content = (day: number): Record<string, TestPackage> => ({
      a: { version: `1.${Math.floor(day / 3)}`, description: day % 2 ? "odd" : "even" },
      ...(day % 4 === 0 ? {} : { b: { version: "7" } }),
      [`only.${day}`]: { version: "1" },
    });
    const forwards = open(join(folder, "forwards"), { force: true });
    for (const day of days) {
      await take(forwards, day, content(day), day % 3 === 0 ? "stable" : "unstable");
    }
    await forwards.writeIndex();
    forwards.close();
    for (const day of [7, 12, 1, 3, 2, 10, 4, 11, 5, 9, 6, 8]) {
      const session = open(join(folder, "shuffled"), { force: true });
      await take(session, day, content(day), day % 3 === 0 ? "stable" : "unstable");
      if (day % 5 === 0) {
        await session.writeIndex();
      }
      session.save();
      session.close();
    }
    const last = open(join(folder, "shuffled"));
    expect(await last.writeIndex()).toBe(true);
    last.close();
    expect(readFileSync(join(folder, "shuffled")).equals(readFileSync(join(folder, "forwards")))).toBe(true);
  });

  it("is not changed by a channel that was refused", async () => {
    for (const [name, tries] of [
      ["plain", false],
      ["tried", true],
    ] as const) {
      const session = open(join(folder, name));
      if (tries) {
        const source = { channel: "odd", commit: testCommit(9), date: date(9), open: () => inPieces("{}") };
        await expect(session.ingest(source)).rejects.toThrow(QualityGateError);
      }
      await take(session, 1, { a: { version: "1" } });
      await session.writeIndex();
      session.close();
    }
    expect(readFileSync(join(folder, "plain")).equals(readFileSync(join(folder, "tried")))).toBe(true);
  });

  it("takes the same commit of a channel once", async () => {
    const session = open();
    expect((await take(session, 1, {})).isNew).toBe(true);
    expect((await take(session, 1, {})).isNew).toBe(false);
    expect((await take(session, 1, {}, "other")).isNew).toBe(true);
    session.close();
  });

  it("counts entries without a version and leaves them out", async () => {
    const session = open();
    const list = JSON.parse(packageList({})) as { packages: Record<string, unknown> };
    list.packages["hook"] = { name: "setup-hook" };
    const source = { channel: "u", commit: testCommit(1), date: date(1), open: () => inPieces(JSON.stringify(list)) };
    expect(await session.ingest(source)).toMatchObject({ packages: 6, dropped: 1 });
    session.close();
  });

  it("refuses a truncated brotli stream and keeps everything as it was", async () => {
    const session = open();
    await take(session, 1, { a: { version: "1" } });
    await session.writeIndex();
    const before = readFileSync(indexPath);
    const path = join(folder, "packages.json.br");
    writeFileSync(path, compressedPackageList(many(3000)));
    for (const length of [0, 1, 100, 5000]) {
      copyFileSync(path, `${path}.cut.br`);
      truncateSync(`${path}.cut.br`, length);
      const source = {
        channel: "unstable",
        commit: testCommit(2),
        date: date(2),
        open: () => openPackageList(`${path}.cut.br`),
      };
      await expect(session.ingest(source)).rejects.toThrow(/damaged or cut off|incomplete/);
    }
    expect(await session.writeIndex()).toBe(false);
    session.close();
    expect(readFileSync(indexPath).equals(before)).toBe(true);
  });

  it("takes in a snapshot of full size, and finds it again unchanged", { timeout: 180_000 }, async () => {
    const lines = Array.from({ length: 144_000 }, (_, at) => {
      const path = at % 5 === 0 ? `package-${at}` : `set${at % 37}Packages.package-${at}`;
      const description = `Does the thing number ${at} ${"very ".repeat(at % 60)}well`;
      return `${JSON.stringify(path)}:${JSON.stringify(packageEntry(path, { version: `${at % 9}.${at % 31}`, description }))}`;
    });
    const sentinels = JSON.stringify((JSON.parse(packageList({})) as { packages: object }).packages).slice(1, -1);
    const text = `{"version":2,"packages":{${sentinels},${lines.join(",")}}}`;
    const path = join(folder, "packages.json.br");
    writeFileSync(path, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }));
    const session = open();
    for (const day of [1, 2]) {
      const source = { channel: "u", commit: testCommit(day), date: date(day), open: () => openPackageList(path) };
      expect(await session.ingest(source)).toMatchObject({ packages: 144_006, bytes: Buffer.byteLength(text) });
    }
    session.save();
    session.close();
    const again = open();
    expect(again.observations.records.size).toBe(144_006);
    expect(again.observations.channel("u").runRecord.length).toBe(144_006);
    again.close();
  });

  it("stops in the middle of a snapshot when asked to, and keeps nothing of it", async () => {
    const stopping = new AbortController();
    const session = new IngestSession({
      indexPath,
      force: false,
      sentinels: [],
      log: () => {},
      signal: stopping.signal,
    });
    async function* interrupted() {
      yield Buffer.from('{"packages":{"a":{"pname":"a","version":"1"},');
      stopping.abort();
      yield Buffer.from('"b":{"pname":"b","version":"1"}}}');
    }
    await expect(
      session.ingest({ channel: "u", commit: testCommit(1), date: date(1), open: interrupted }),
    ).rejects.toThrow();
    expect(session.observations.snapshotCount).toBe(0);
    session.close();
  });
});

describe("the quality gates", () => {
  const refused = async (
    session: IngestSession,
    day: number,
    packages: Record<string, TestPackage>,
    reason: RegExp,
  ) => {
    await expect(take(session, day, packages)).rejects.toThrow(reason);
  };

  it("refuse a list without the packages that every tree has", async () => {
    const session = open();
    const source = {
      channel: "u",
      commit: testCommit(1),
      date: date(1),
      open: () => inPieces('{"a":{"pname":"a","version":"1"}}'),
    };
    await expect(session.ingest(source)).rejects.toThrow(/lacks bash, coreutils/);
    expect(session.observations.snapshotCount).toBe(0);
    session.close();
  });

  it("refuse an empty list, one with hardly any versions, one that shrank and one that grew beyond belief", async () => {
    const session = open();
    await expect(
      session.ingest({ channel: "u", commit: testCommit(9), date: date(9), open: () => inPieces("{}") }),
    ).rejects.toThrow(/no package with a version/);
    await take(session, 1, many(200));
    await refused(session, 2, many(100), /has 106 packages where the snapshots around it have about 206/);
    await refused(session, 3, many(400), /has 406 packages/);
    session.close();
  });

  it("refuse deaths over 5 %, forwards and backwards in time", async () => {
    const session = open();
    await take(session, 10, many(200));
    await refused(session, 11, { ...many(180), ...many(20, "1", "q") }, /20 of 206 packages \(9.7 %\) vanish/);
    await refused(session, 9, { ...many(180), ...many(20, "1", "r") }, /20 of 206 packages \(9.7 %\) vanish/);
    await take(session, 12, { ...many(195), ...many(20, "1", "q") });
    session.close();
  });

  it("let years pass: what is far away in time may differ", async () => {
    const session = open();
    await take(session, 1, many(200));
    await take(session, 400, many(50, "2", "z"));
    session.close();
  });

  it("believe a change that the next snapshot confirms", async () => {
    const session = open();
    await take(session, 1, many(200));
    await refused(session, 2, many(100), /packages where/);
    expect(await take(session, 3, many(101))).toMatchObject({ confirmed: testCommit(2) });
    expect(
      session.observations
        .channel("unstable")
        .snapshots.map(({ commit }) => commit)
        .sort(),
    ).toEqual([1, 2, 3].map(testCommit));
    expect(notes.join()).toMatch(/agree with each other/);
    session.close();
  });

  it("give way to --force, with the reason in the log", async () => {
    const session = open(indexPath, { force: true });
    await take(session, 1, many(200));
    await take(session, 2, many(10));
    expect(notes.join()).toMatch(/by force although it has 16 packages/);
    session.close();
  });

  it("are errors with their reasons apart", () => {
    expect(new QualityGateError({ commit: "c" }, ["one", "two"]).problems).toEqual(["one", "two"]);
  });
});

describe("the work folder", () => {
  it("belongs to one process at a time; the lock of a dead one is taken over", async () => {
    const session = open();
    session.close();
    const lock = `${indexPath}.work/lock`;
    writeFileSync(lock, String(process.ppid));
    expect(() => open()).toThrow(WorkFolderBusyError);
    writeFileSync(lock, "4194304");
    open().close();
    expect(existsSync(lock)).toBe(false);
  });

  it("refuses damaged observations and says what to do", async () => {
    const session = open();
    await take(session, 1, {});
    session.save();
    session.close();
    const path = `${indexPath}.work/observations`;
    const bytes = readFileSync(path);
    for (const damage of [
      bytes.subarray(0, 20),
      bytes.subarray(0, bytes.length - 5),
      Buffer.concat([bytes, bytes]),
      flip(bytes, bytes.length - 50),
      Buffer.from("hello"),
    ]) {
      writeFileSync(path, damage);
      expect(() => open()).toThrow(ObservationsFileError);
    }
    writeFileSync(path, bytes);
    open().close();
  });

  it("guards an index that was made elsewhere", async () => {
    writeFileSync(indexPath, "an index from somewhere");
    expect(() => open()).toThrow(ForeignIndexError);
    open(indexPath, { force: true }).close();
  });
});

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
}
