import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { evaluateTree } from "./evaluate-tree.js";
import { listCommits, resolveCommits } from "./git-commits.js";
import { ingestGit } from "./ingest-git.js";
import { IngestSession } from "./ingest-session.js";

const hasNix = spawnSync("nix-env", ["--version"]).status === 0;
const hasGit = spawnSync("git", ["--version"]).status === 0;
if (!hasNix) {
  console.log("nix-env is not installed: evaluation of trees is not tested.");
}

/** A tree with a nested set, metadata of several shapes and something without a version. */
const tree = (version: string) => `
{ system ? builtins.currentSystem, config ? { } }:
let
  make = pname: version: meta: derivation {
    name = "\${pname}-\${version}"; builder = "/bin/sh"; inherit system;
  } // { inherit pname version meta; };
in {
  hello = make "hello" "${version}" {
    description = "Greets";
    license = { spdxId = "GPL-3.0-or-later"; };
    maintainers = [ { github = "someone"; } ];
    position = toString ./pkgs/hello/default.nix + ":3";
  };
  nested = { recurseForDerivations = true; inner = make "inner" "0.1" { }; };
  script = derivation { name = "script"; builder = "/bin/sh"; inherit system; };
}`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-tree-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const options = (scratch = folder) => ({
  nixEnv: "nix-env",
  system: "x86_64-linux",
  scratch: join(scratch, "scratch"),
  signal: new AbortController().signal,
});

const openSession = () =>
  new IngestSession({ indexPath: join(folder, "index"), force: true, sentinels: [], log: () => {} });

describe.skipIf(!hasNix)("evaluating a tree with nix-env", () => {
  it("gives its packages with their facts", async () => {
    const path = join(folder, "tree");
    mkdirSync(path);
    writeFileSync(join(path, "default.nix"), tree("2.10"));
    const session = openSession();
    const open = () => evaluateTree(path, options());
    const result = await session.ingest({ channel: "git", commit: "a".repeat(40), date: 1_600_000_000, open });
    expect(result).toMatchObject({ packages: 2, dropped: 1 });
    const records = [0, 1].map((record) => session.observations.records.read(record));
    expect(records.find(({ attributePath }) => attributePath === "hello")).toMatchObject({
      name: "hello",
      version: "2.10",
      description: "Greets",
      license: "GPL-3.0-or-later",
      maintainers: ["someone"],
      sourcePath: "pkgs/hello/default.nix",
    });
    expect(records.map(({ attributePath }) => attributePath)).toContain("nested.inner");
    session.close();
  });

  it("reports what nix-env says about a tree that it cannot evaluate", async () => {
    const path = join(folder, "tree");
    mkdirSync(path);
    writeFileSync(join(path, "default.nix"), '{ hello = throw "broken on purpose" }');
    const session = openSession();
    const source = {
      channel: "git",
      commit: "a".repeat(40),
      date: 1_600_000_000,
      open: () => evaluateTree(path, options()),
    };
    await expect(session.ingest(source)).rejects.toThrow(/could not evaluate/);
    session.close();
  });

  it.skipIf(!hasGit)("evaluates commits of a clone, without touching its checkout", async () => {
    const path = join(folder, "clone");
    mkdirSync(path);
    const git = (...words: string[]) =>
      execFileSync("git", ["-C", path, "-c", "user.name=t", "-c", "user.email=t@example.org", ...words], {
        encoding: "utf8",
        env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" },
      });
    git("init", "-q");
    for (const [at, version] of ["2.8", "2.9", "2.10"].entries()) {
      writeFileSync(join(path, "default.nix"), tree(version));
      git("add", ".");
      execFileSync(
        "git",
        ["-C", path, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", version],
        {
          env: {
            ...process.env,
            GIT_COMMITTER_DATE: `${1_600_000_000 + at * 1000} +0000`,
            GIT_CONFIG_GLOBAL: "/dev/null",
          },
        },
      );
    }
    const all = await listCommits(path, { every: 1, branch: "HEAD", since: null });
    expect(all.map(({ date }) => date)).toEqual([1_600_002_000, 1_600_001_000, 1_600_000_000]);
    expect(await listCommits(path, { every: 2, branch: "HEAD", since: null })).toEqual([all[0], all[2]]);
    expect(await resolveCommits(path, ["HEAD~1"])).toEqual([all[1]]);
    await expect(resolveCommits(path, ["--exec=x"])).rejects.toThrow(/not the name of a commit/);

    const session = openSession();
    const run = {
      session,
      repository: path,
      commits: all,
      channel: "git",
      evaluate: options(),
      signal: options().signal,
      log: () => {},
      onProgress: () => {},
    };
    expect(await ingestGit(run)).toEqual({ ingested: 3, known: 0, failed: 0 });
    expect(await ingestGit(run)).toEqual({ ingested: 0, known: 3, failed: 0 });
    expect(git("status", "--porcelain")).toBe("");
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
    session.close();
  });
});

describe("without nix-env", () => {
  it("says what to install", async () => {
    writeFileSync(join(folder, "default.nix"), tree("1"));
    const evaluate = async () => {
      for await (const _ of evaluateTree(folder, { ...options(), nixEnv: join(folder, "missing") })) {
        // nothing comes
      }
    };
    await expect(evaluate()).rejects.toThrow(/is not installed. Install Nix/);
  });

  it("says that a folder is no tree", async () => {
    await expect(evaluateTree(folder, options()).next()).rejects.toThrow(/has no default.nix/);
  });
});
