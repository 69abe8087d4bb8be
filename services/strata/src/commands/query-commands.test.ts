import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { makeRecord } from "../testing/make-records.js";
import { useServer } from "../testing/use-server.js";

const PROGRAM = fileURLToPath(new URL("../../bin/strata.js", import.meta.url));
const records = [
  makeRecord({
    attributePath: "hello",
    version: "2.10",
    description: "Says hello",
    license: "GPL-3.0-or-later",
    platforms: ["x86_64-linux"],
  }),
  makeRecord({
    attributePath: "hello",
    version: "2.12",
    firstCommitDate: 1_660_000_000,
    lastCommitDate: 1_670_000_000,
    knownVulnerabilities: ["CVE-1"],
  }),
  makeRecord({
    attributePath: "python3Packages.hello",
    version: "1.0",
    firstCommitDate: 1_500_000_000,
    lastCommitDate: 1_500_000_001,
  }),
];
const server = useServer(records);

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function strata(...words: string[]): Promise<Result> {
  return new Promise((resolve) => {
    const env = { ...process.env, XDG_CONFIG_HOME: "/nonexistent", XDG_DATA_HOME: "/nonexistent", NO_COLOR: "1" };
    execFile(process.execPath, [PROGRAM, ...words], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

describe.each(["the local index", "a server"])("strata's questions to %s", (where) => {
  const source = () =>
    where === "a server" ? ["--server", `${server().url}/api/v1/`] : ["--index", server().indexPath];

  it("search: a table with the line to paste", async () => {
    const { code, stdout, stderr } = await strata("search", "hello", ...source());
    expect(code).toBe(0);
    const lines = stdout.trim().split("\n");
    expect(lines[0]).toMatch(/^PACKAGE\s+VERSION\s+LAST SEEN\s+SHELL$/);
    expect(lines[1]).toMatch(
      /^hello\s+2\.12\s+2022-12-02\s+NIXPKGS_ALLOW_INSECURE=1 nix shell --impure nixpkgs\/b{40}#hello$/,
    );
    expect(lines[3]).toMatch(/nix-shell -p python3Packages\.hello -I nixpkgs=https:/);
    expect(stderr).toContain("3 found");
  });

  it("search: JSON, plain lines, filters, orders", async () => {
    const json = JSON.parse(
      (await strata("search", "hello", "2.1", "--json", "--sort", "version", ...source())).stdout,
    );
    expect(json.data.map(({ version }: { version: string }) => version)).toEqual(["2.10", "2.12"]);
    const flagged = await strata("search", "hello", "--version", "2.1", "--json", "--sort", "version", ...source());
    expect(JSON.parse(flagged.stdout)).toEqual(json);
    expect(json.data[0].nix_shell).toBe(`nix shell nixpkgs/${"b".repeat(40)}#hello`);
    expect(json.meta.total).toBe(2);
    const plain = await strata("search", "hello", "--plain", "--license", "gpl", ...source());
    expect(plain.stdout.split("\t").slice(0, 2)).toEqual(["hello", "2.10"]);
    const described = await strata("search", "-d", "says", "--plain", ...source());
    expect(described.stdout).toBe("");
  });

  it("info: everything about the newest record, or about a version", async () => {
    const { stdout } = await strata("info", "hello", ...source());
    expect(stdout).toMatch(/^package\s+hello$/m);
    expect(stdout).toMatch(/^insecure\s+CVE-1$/m);
    expect(stdout).toMatch(/^shell\s+NIXPKGS_ALLOW_INSECURE=1 nix shell/m);
    const older = await strata("info", "hello", "2.10", ...source());
    expect(older.stdout).toMatch(/^license\s+GPL-3.0-or-later$/m);
    expect(JSON.parse((await strata("info", "hello", "--json", ...source())).stdout).version).toBe("2.12");
  });

  it("a name with a version in it gets told how to ask", async () => {
    const { stdout, stderr } = await strata("search", "hello2.12", ...source());
    expect(stdout).toBe("");
    expect(stderr).toContain("For version 2.12 of hello: strata search hello 2.12");
    expect((await strata("search", "hello", ...source())).stderr).not.toContain("For version");
  });

  it("history and stats", async () => {
    const { stdout } = await strata("history", "hello", "--plain", ...source());
    expect(stdout.split("\n")[0]!.split("\t").slice(0, 4)).toEqual(["2.12", "2022-08-08", "2022-12-02", "yes"]);
    const stats = JSON.parse((await strata("stats", "--json", ...source())).stdout);
    expect(stats).toMatchObject({ total_ranges: 3, unique_names: 1 });
  });

  it("what is not there: exit code 3, with near names", async () => {
    const { code, stderr } = await strata("info", "helo", ...source());
    expect(code).toBe(3);
    expect(stderr).toContain("Package 'helo' not found. Near names: 'hello'");
    expect((await strata("info", "hello", "9", ...source())).stderr).toContain(
      "Version '9' of package 'hello' not found",
    );
  });
});

describe("strata without an answer", () => {
  it("no index: says so and what to do", async () => {
    const { code, stderr } = await strata("stats", "--index", "/nonexistent/index.strata");
    expect(code).toBe(1);
    expect(stderr).toMatch(/no index at .*strata ingest/);
  });

  it("no server: exit code 4", async () => {
    const { code, stderr } = await strata("search", "a", "--server", "http://127.0.0.1:9");
    expect(code).toBe(4);
    expect(stderr).toContain("127.0.0.1:9");
  });

  it("bad settings of the server: exit code 2 and the rule", async () => {
    for (const [flag, value] of [
      ["--cors-origins", "nonsense"],
      ["--rate-limit", "fast"],
      ["--port", "70000"],
    ] as const) {
      const { code, stderr } = await strata("serve", flag, value);
      expect(code, flag).toBe(2);
      expect(stderr).toContain(flag);
    }
    expect((await strata("serve", "--workers", "2", "--rate-limit", "5")).code).toBe(2);
  });
});
