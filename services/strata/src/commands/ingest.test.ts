import { type ChildProcess, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compressedPackageList, packageList, testCommit } from "../ingest/testing/make-packages.js";

/** The real program, as a person runs it. */

const PROGRAM = fileURLToPath(new URL("../../bin/strata.js", import.meta.url));
const DAY = 24 * 60 * 60;
let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-commands-"));
});
afterEach(() => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
  }
  rmSync(folder, { recursive: true, force: true });
});

const path = (name: string) => join(folder, name);

function start(...words: string[]): ChildProcess {
  const env = { PATH: process.env["PATH"], HOME: folder, XDG_CONFIG_HOME: path("config"), XDG_DATA_HOME: path("data") };
  const child = spawn(process.execPath, [PROGRAM, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  // A pipe that nobody empties fills up, and the program then waits for ever.
  child.stdout!.resume();
  child.stderr!.resume();
  return child;
}

async function run(...words: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = start(...words);
  let [out, err] = ["", ""];
  child.stdout!.on("data", (text) => {
    out += text;
  });
  child.stderr!.on("data", (text) => {
    err += text;
  });
  const code = await new Promise<number | null>((ended) => child.on("close", ended));
  return { code, out, err };
}

/** A channel in a folder: releases a day apart, each a little different. */
function makeReleases(name: string, count: number, packages: number): string {
  for (let day = 1; day <= count; day++) {
    const commit = testCommit(day);
    const release = join(path(name), `nixos-22.05pre${350_000 + day}.${commit.slice(0, 11)}`);
    mkdirSync(release, { recursive: true });
    const content = Object.fromEntries(
      Array.from({ length: packages }, (_, at) => [`p${at}`, { version: `1.${Math.floor((at + day) / 9)}` }]),
    );
    writeFileSync(join(release, "packages.json.br"), compressedPackageList(content));
    writeFileSync(join(release, "git-revision"), commit);
    const date = Date.UTC(2022, 0, 1) / 1000 + day * DAY;
    utimesSync(join(release, "git-revision"), date, date);
  }
  return path(name);
}

describe("strata ingest", () => {
  it("takes a snapshot in and answers from it", async () => {
    writeFileSync(path("packages.json"), packageList({ "set.tool": { version: "3.1", insecure: true } }));
    const words = ["--commit", testCommit(1), "--date", "2022-01-01"];
    const { code, out } = await run("ingest", "snapshot", path("packages.json"), ...words, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ packages: 7, dropped: 0, snapshots: 1, written: true });
    const found = await run("search", "tool", "--json");
    expect(JSON.parse(found.out).data[0]).toMatchObject({
      attribute_path: "set.tool",
      version: "3.1",
      source_path: "pkgs/tool/default.nix",
      known_vulnerabilities: ["CVE-2020-1234 in tool"],
      first_commit_date: "2022-01-01T00:00:00Z",
    });
    const again = await run("ingest", "snapshot", path("packages.json"), ...words);
    expect(again).toMatchObject({
      code: 0,
      out: expect.stringContaining("unchanged"),
      err: expect.stringContaining("already"),
    });
  });

  it.each([
    [
      ["ingest", "snapshot", "missing.json", "--commit", testCommit(1), "--date", "2022-01-01"],
      3,
      "missing.json is not there",
    ],
    [["ingest", "snapshot", PROGRAM, "--date", "2022-01-01"], 2, "--commit is missing"],
    [["ingest", "snapshot", PROGRAM, "--commit", "abc", "--date", "2022-01-01"], 2, "40 hex digits"],
    [["ingest", "snapshot", PROGRAM, "--commit", testCommit(1), "--date", "yesterday"], 2, '--date is "yesterday"'],
    [
      ["ingest", "snapshot", PROGRAM, "--commit", testCommit(1), "--date", "1970-01-02"],
      2,
      "between the year 2000 and now",
    ],
    [["ingest", "snapshot", PROGRAM, "--commit", testCommit(1), "--date", "2022-01-01"], 1, "not a package list"],
    [["ingest", "git", ".", "--every", "5", "--commits", "x"], 2, "either --every N or --commits FILE"],
    [["ingest", "channel", "http://127.0.0.1:1/x"], 4, "cannot be reached"],
    [["publish", "out"], 1, "there is no secret key"],
    [["sync"], 2, "no manifest was given"],
    [["sync", "--manifest", "x"], 2, "no public key was given"],
    [["sync", "--manifest", "x", "--public-key", "y"], 2, "not a minisign public key"],
    [["sync", "--manifest", "http://127.0.0.1:1/x.json", "--unsigned"], 4, "cannot be reached"],
  ])("%j ends with %i: %s", { timeout: 90_000 }, async (words, code, message) => {
    const result = await run(...words);
    expect(result.err).toContain(message);
    expect(result.code).toBe(code);
  });

  it("refuses an odd snapshot with the remedy, and takes it by force with the reason in the log", async () => {
    writeFileSync(path("odd.json"), '{"a":{"pname":"a","version":"1"}}');
    const words = ["ingest", "snapshot", path("odd.json"), "--commit", testCommit(1), "--date", "2022-01-01"];
    const refused = await run(...words);
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/lacks bash.*\n.*--force/s) });
    expect(existsSync(path("data/strata/index.strata"))).toBe(false);
    expect(await run(...words, "--force")).toMatchObject({ code: 0, err: expect.stringContaining("by force") });
  });

  it("killed at any moment leaves the old index as it was, and goes on where it stopped", {
    timeout: 180_000,
  }, async () => {
    const releases = makeReleases("releases", 24, 1500);
    const channel = (name: string) => ["ingest", "channel", releases, "--index", path(name), "--save-every", "0s"];
    expect(await run(...channel("whole"))).toMatchObject({ code: 0 });

    // An index of the newest two releases is in use when the big ingest starts.
    expect(await run(...channel("killed"), "--limit", "2")).toMatchObject({ code: 0 });
    const inUse = readFileSync(path("killed"));
    const observations = path("killed.work/observations");
    const saved = readFileSync(observations);
    for (let round = 0; round < 3; round++) {
      const child = start(...channel("killed"));
      const before = readFileSync(observations);
      await waitUntil(() => child.exitCode !== null || !readFileSync(observations).equals(before));
      child.kill("SIGKILL");
      await new Promise((ended) =>
        child.exitCode === null && child.signalCode === null ? child.on("close", ended) : ended(null),
      );
      if (child.exitCode === null) {
        expect(readFileSync(path("killed")).equals(inUse), "the index in use").toBe(true);
      }
    }
    expect(readFileSync(observations).equals(saved), "something was kept").toBe(false);
    const last = await run(...channel("killed"), "--json");
    expect(last.code).toBe(0);
    expect(JSON.parse(last.out).taken_in, "not everything was done again").toBeLessThan(22);
    expect(readFileSync(path("killed")).equals(readFileSync(path("whole")))).toBe(true);
  });

  it("stops cleanly at Ctrl-C", { timeout: 120_000 }, async () => {
    const releases = makeReleases("releases", 30, 1500);
    const child = start("ingest", "channel", releases, "--index", path("i"), "--save-every", "0s");
    const code = new Promise((ended) => child.on("close", ended));
    await waitUntil(() => existsSync(path("i.work/observations")) || child.exitCode !== null);
    child.kill("SIGINT");
    expect([0, 130]).toContain(await code);
    expect(existsSync(path("i.work/lock"))).toBe(false);
    expect(await run("ingest", "channel", releases, "--index", path("i"))).toMatchObject({ code: 0 });
  });
});

describe("keygen, publish, sync and serve --sync-every", () => {
  it("work together", { timeout: 120_000 }, async () => {
    const releases = makeReleases("releases", 3, 50);
    const old = path("old.strata");
    await run("ingest", "channel", releases, "--index", old, "--limit", "2");
    await run("ingest", "channel", releases);
    const key = JSON.parse((await run("keygen", "--json")).out) as { public_key: string };
    expect(await run("keygen")).toMatchObject({ code: 1, err: expect.stringContaining("exists") });
    expect((await run("publish", path("pub"), "--since", old)).code).toBe(0);
    copyFileSync(old, path("client.strata"));
    const words = ["--index", path("client.strata"), "--manifest", path("pub"), "--public-key", key.public_key];
    expect(JSON.parse((await run("sync", ...words, "--json")).out)).toMatchObject({ kind: "delta" });
    expect(readFileSync(path("client.strata")).equals(readFileSync(path("data/strata/index.strata")))).toBe(true);

    rmSync(path("client.strata"));
    const server = start("serve", "--port", "0", "--sync-every", "1h", "--log-level", "warn", ...words);
    let said = "";
    server.stdout!.on("data", (text) => {
      said += text;
    });
    await waitUntil(() => /http:\S+/.test(said));
    const url = /http:\S+/.exec(said)![0];
    // The sample first, the real one as soon as it has come.
    await waitUntil(async () => {
      const { data } = (await (await fetch(`${url}/api/v1/stats`)).json()) as {
        data?: { sample?: boolean; last_indexed_commit: string };
      };
      return data?.sample !== true && data?.last_indexed_commit === testCommit(3);
    });
    server.kill("SIGTERM");
    expect(await new Promise((ended) => server.on("close", ended))).toBe(0);
  });
});

async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await new Promise((passed) => setTimeout(passed, 15));
  }
}
