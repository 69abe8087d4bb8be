import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FetchOptions } from "../sync/fetch-with-retry.js";
import { type IngestChannelOptions, ingestChannel } from "./ingest-channel.js";
import { IngestSession } from "./ingest-session.js";
import { openReleaseListing } from "./release-listing.js";
import { compareReleases, parseReleaseName } from "./release-name.js";
import { compressedPackageList, testCommit } from "./testing/make-packages.js";
import { type ReleaseServer, startReleaseServer, type TestRelease } from "./testing/release-server.js";

const DAY = 24 * 60 * 60;
const date = (day: number) => Date.UTC(2022, 0, 1) / 1000 + day * DAY;

function release(day: number, options: Partial<TestRelease> = {}): TestRelease {
  const commit = testCommit(day);
  const name = `nixos-22.05pre${350_000 + day * 7}.${commit.slice(0, 11)}`;
  return { name, commit, date: date(day), list: compressedPackageList({ a: { version: `1.${day}` } }), ...options };
}

let folder: string;
let server: ReleaseServer | undefined;
const notes: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-channel-"));
  notes.length = 0;
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const withoutWaiting: FetchOptions = { wait: async () => {} };

async function walk(location: string, options: Partial<IngestChannelOptions> & { index?: string } = {}) {
  const indexPath = join(folder, options.index ?? "index.strata");
  const session = new IngestSession({ indexPath, force: false, sentinels: ["hello"], log: (line) => notes.push(line) });
  try {
    const listing = openReleaseListing(location, withoutWaiting);
    const done: string[] = [];
    const result = await ingestChannel({
      session,
      listing,
      channel: listing.channel,
      since: null,
      limit: null,
      retryFailed: false,
      signal: new AbortController().signal,
      log: (line) => notes.push(line),
      onProgress: ({ release }) => done.push(release),
      ...options,
    });
    await session.writeIndex();
    const snapshots = session.observations.channel(options.channel ?? listing.channel).snapshots;
    return {
      ...result,
      done,
      commits: snapshots.map(({ commit }) => commit).sort(),
      dates: snapshots.map((one) => one.date),
    };
  } finally {
    session.close();
  }
}

describe("names of releases", () => {
  it.each([
    "nixos-20.09pre243018.c59ea8b8a0e",
    "nixos-20.03.3324.929768261a3",
    "nixpkgs-21.11pre300000.abcdef0",
    "nixos-19.09beta512.0123456789a",
    "nixpkgs-darwin-22.05pre1.abcdef0",
  ])("%s is one", (name) => {
    expect(parseReleaseName(name)).toMatchObject({ name });
  });
  it.each(["nixos-20.09", "latest", "nixos-20.09pre1.XYZ", "nixos-20.09pre.c59ea8b8a0e", ""])("%s is none", (name) => {
    expect(parseReleaseName(name)).toBeNull();
  });
  it("are ordered by count, newest first, never by name", () => {
    const names = ["nixos-20.09pre99999.aaaaaaa", "nixos-20.09pre100000.aaaaaaa", "nixos-21.05pre100001.aaaaaaa"];
    expect(
      names
        .map((name) => parseReleaseName(name)!)
        .sort(compareReleases)
        .map(({ count }) => count),
    ).toEqual([100_001, 100_000, 99_999]);
  });
});

describe("walking a channel on a server", () => {
  it("takes every release of every page, newest first, with commit and date, and nothing twice", async () => {
    server = await startReleaseServer(
      "nixos/unstable",
      [1, 2, 3, 4, 5].map((day) => release(day)),
      2,
    );
    const first = await walk(server.url);
    expect(first).toMatchObject({ ingested: 5, counts: { ingested: 5, pending: 0, failed: 0, skipped: 0 } });
    expect(first.done).toEqual([5, 4, 3, 2, 1].map((day) => release(day).name));
    expect(first.commits).toEqual([1, 2, 3, 4, 5].map(testCommit));
    expect(first.dates.sort()).toEqual([1, 2, 3, 4, 5].map(date));
    server.releases.push(release(6));
    server.requests.length = 0;
    expect(await walk(server.url)).toMatchObject({ ingested: 1, counts: { ingested: 6 } });
    expect(server.requests.filter((path) => path.includes("packages"))).toHaveLength(1);
  });

  it("also when the bucket is a path and the prefix a parameter", async () => {
    server = await startReleaseServer("nixos/unstable", [release(1)], 10);
    const { origin } = new URL(server.url);
    expect(await walk(`${origin}/?prefix=nixos/unstable/`)).toMatchObject({ ingested: 1 });
  });

  it("skips releases without a package list for good", async () => {
    server = await startReleaseServer("nixos/unstable", [release(1, { list: null }), release(2)], 10);
    expect(await walk(server.url)).toMatchObject({ ingested: 1, counts: { ingested: 1, skipped: 1 } });
    server.requests.length = 0;
    await walk(server.url);
    expect(server.requests).toHaveLength(1);
  });

  it("tries again what may pass: overload and broken connections", async () => {
    server = await startReleaseServer("nixos/unstable", [release(1), release(2)], 10);
    server.failNext(/list-type/, 503, 2);
    server.failNext(/git-revision/, 500, 1);
    server.failNext(/packages/, 429, 1);
    expect(await walk(server.url)).toMatchObject({ ingested: 2 });
  });

  it("notes what failed, goes on with the rest, and backs off before it tries again", async () => {
    server = await startReleaseServer(
      "nixos/unstable",
      [1, 2, 3].map((day) => release(day)),
      10,
    );
    server.failNext(/350014.*packages/, "break", 1);
    const now = Date.now();
    expect(await walk(server.url, { now: () => now })).toMatchObject({ ingested: 2, counts: { failed: 1 } });
    expect(notes.join()).toMatch(/350014/);
    expect(await walk(server.url, { now: () => now + 60_000 })).toMatchObject({ ingested: 0, counts: { failed: 1 } });
    expect(await walk(server.url, { now: () => now + 3_600_000 })).toMatchObject({
      ingested: 1,
      counts: { failed: 0, ingested: 3 },
    });
  });

  it("fails on a damaged list, a wrong git-revision and an odd snapshot; --retry-failed tries at once", async () => {
    const damaged = release(2, { list: release(2).list!.subarray(0, 60) });
    const wrong = release(3, { commit: testCommit(77) });
    const odd = release(4, { list: compressedPackageList({}).subarray(0) });
    odd.list = Buffer.from("not brotli at all");
    server = await startReleaseServer(
      "nixos/unstable",
      [release(1), damaged, { ...wrong, name: release(3).name }, odd],
      10,
    );
    expect(await walk(server.url)).toMatchObject({ ingested: 1, counts: { failed: 3 } });
    const ledger = JSON.parse(readFileSync(join(folder, "index.strata.work/ledger-nixos-unstable.json"), "utf8"));
    expect(ledger[release(3).name]).toMatchObject({
      status: "failed",
      attempts: 1,
      reason: expect.stringContaining("is not its commit"),
    });
    server.releases.splice(1, 3, release(2), release(3), release(4));
    expect(await walk(server.url, { retryFailed: true })).toMatchObject({
      ingested: 3,
      counts: { failed: 0, ingested: 4 },
    });
  });

  it("stops at the time asked for, and at the number asked for", async () => {
    server = await startReleaseServer(
      "nixos/unstable",
      [1, 2, 3, 4, 5].map((day) => release(day)),
      10,
    );
    expect(await walk(server.url, { limit: 1 })).toMatchObject({ ingested: 1 });
    expect((await walk(server.url, { since: date(3) })).commits).toEqual([3, 4, 5].map(testCommit));
    expect((await walk(server.url)).commits).toEqual([1, 2, 3, 4, 5].map(testCommit));
  });

  it("says so when the address is no bucket", async () => {
    server = await startReleaseServer("nixos/unstable", [], 10);
    const { origin } = new URL(server.url);
    await expect(walk(`${origin}/other/path`, {})).resolves.toMatchObject({ ingested: 0 });
    await expect(walk("http://127.0.0.1:1/nixos/unstable")).rejects.toThrow(/cannot be reached/);
  });
});

describe("walking a channel in a folder", () => {
  it("gives the index that the server gives", async () => {
    const releases = [1, 2, 3].map((day) => release(day));
    server = await startReleaseServer("nixos/unstable", releases, 10);
    await walk(server.url, { index: "remote", channel: "c" });
    const local = join(folder, "releases");
    for (const { name, commit, date, list } of releases) {
      mkdirSync(join(local, name), { recursive: true });
      writeFileSync(join(local, name, "git-revision"), `${commit}\n`);
      utimesSync(join(local, name, "git-revision"), date, date);
      writeFileSync(join(local, name, "packages.json.br"), list!);
    }
    await walk(local, { index: "local", channel: "c" });
    expect(readFileSync(join(folder, "local")).equals(readFileSync(join(folder, "remote")))).toBe(true);
  });
});
