import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { CommandError, choice, defineCommand, duration, integer, list, runProgram, text, toggle } from "./index.js";

const seen: unknown[] = [];
const serve = defineCommand({
  name: "serve",
  summary: "start the server",
  settings: {
    port: integer({
      flag: "-p, --port <number>",
      env: "DEMO_PORT",
      key: "serve.port",
      doc: "port to listen on",
      default: 8080,
      min: 0,
      max: 65535,
    }),
    cors: toggle({ flag: "--cors", env: "DEMO_CORS", key: "serve.cors", doc: "allow all origins", default: false }),
    watch: toggle({ flag: "--watch", doc: "watch the index", default: true }),
    origins: list({ flag: "--origins <list>", key: "serve.origins", doc: "allowed origins", default: [] }),
    level: choice({
      flag: "--level <name>",
      env: "DEMO_LEVEL",
      doc: "log level",
      default: "info",
      choices: ["debug", "info"],
    }),
    every: duration({ flag: "--every <time>", doc: "how often", default: undefined }),
    key: text({ env: "DEMO_KEY", key: "serve.key", doc: "key", default: undefined, secret: true }),
    folder: text({ env: "DEMO_DIR", doc: "folder", default: "out", emptyIsValue: true }),
  },
  run: async ({ settings, origins }) => {
    const port: number = settings.port;
    seen.push({ ...settings, port, portFrom: origins.port });
  },
});
const find = defineCommand({
  name: "find",
  summary: "find things",
  arguments: [
    { name: "what", doc: "what to find", complete: () => ["apples", "pears"] },
    { name: "more", doc: "more", variadic: true, optional: true },
  ],
  run: async ({ args, output }) => {
    const what: string = args.what;
    if (what === "nothing") throw new CommandError("notFound", "nothing there", { remedy: "Look elsewhere." });
    if (what === "bug") throw new TypeError("a bug");
    output.table(
      [
        { title: "NAME", value: (row) => row.name },
        { title: "COUNT", value: (row) => row.count, align: "right" },
      ],
      [
        { name: what, count: 5 },
        { name: "longer name", count: 1000 },
      ],
    );
  },
});
const group = defineCommand({
  name: "models",
  summary: "models",
  subcommands: [defineCommand({ name: "pull", summary: "pull", run: async () => 3 })],
});
const tell = defineCommand({
  name: "tell",
  summary: "tell a version",
  settings: { version: text({ flag: "--version <prefix>", doc: "a version", default: undefined }) },
  run: async ({ settings, output }) => output.line(`version ${settings.version}`),
});
const program = { name: "demo", version: "1.2.3", summary: "a demo", commands: [serve, find, group, tell] };

async function run(
  words: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const home = mkdtempSync(join(tmpdir(), "demo-"));
  const code = await runProgram(program, words, {
    terminal: { stdin: Readable.from([]), stdout, stderr, env: { HOME: home, ...env } },
  });
  return { code, out: stdout.read()?.toString() ?? "", err: stderr.read()?.toString() ?? "" };
}

function configFile(source: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "demo-")), "config.toml");
  writeFileSync(path, source);
  return path;
}

describe("settings", () => {
  test("a flag wins over the environment, that over the file, that over the default", async () => {
    const config = configFile("[serve]\nport = 3\ncors = true\norigins = ['a', 'b']\n");
    await run(["serve", "--config", config, "--port", "1"], { DEMO_PORT: "2" });
    expect(seen.pop()).toMatchObject({ port: 1, portFrom: "flag", cors: true, origins: ["a", "b"] });
    await run(["serve"], { DEMO_PORT: "2", DEMO_CONFIG: config });
    expect(seen.pop()).toMatchObject({ port: 2, portFrom: "environment" });
    await run(["serve"], { DEMO_CONFIG: config });
    expect(seen.pop()).toMatchObject({ port: 3, portFrom: "file" });
    await run(["serve"]);
    expect(seen.pop()).toMatchObject({ port: 8080, portFrom: "default", cors: false, watch: true, folder: "out" });
  });

  test("a switch that is on by default can be turned off, lists add up, times have units", async () => {
    await run(["serve", "--no-watch", "--origins", "a,b", "--origins", "c", "--every", "6h"]);
    expect(seen.pop()).toMatchObject({ watch: false, origins: ["a", "b", "c"], every: 21_600_000 });
  });

  test("an empty variable counts as not set, except where empty is a value", async () => {
    await run(["serve"], { DEMO_PORT: "", DEMO_DIR: "" });
    expect(seen.pop()).toMatchObject({ port: 8080, folder: "" });
  });

  test.each([
    [["serve", "--port", "70000"], {}, /--port must be a whole number between 0 and 65535 \(given: "70000"\)/],
    [["serve", "--port", "8e1"], {}, /--port must be a whole number/],
    [["serve"], { DEMO_LEVEL: "loud" }, /DEMO_LEVEL must be one of debug, info \(given: "loud"\)/],
    [["serve", "--prot", "1"], {}, /unknown option '--prot'[\s\S]*Did you mean --port/],
    [["serv"], {}, /unknown command 'serv'[\s\S]*Did you mean serve/],
    [["find"], {}, /missing required argument 'what'/],
    [["find", "--json", "--plain", "x"], {}, /--json and --plain cannot both be given/],
  ])("%j is a usage error that says what is allowed", async (words, env, message) => {
    const { code, err } = await run(words as string[], env as Record<string, string>);
    expect(err).toMatch(message as RegExp);
    expect(code).toBe(2);
  });

  test("mistakes in the file are named with file, key and remedy", async () => {
    const unknown = await run(["serve", "--config", configFile("[serve]\nprot = 1\n")]);
    expect(unknown).toMatchObject({
      code: 2,
      err: expect.stringMatching(/unknown key 'serve.prot'\nDid you mean 'serve.port'\?/),
    });
    const wrong = await run(["serve", "--config", configFile("[serve]\nport = 'x'\n")]);
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringMatching(/'serve.port' in .*config.toml must be a whole number \(given: "x"\)/),
    });
    const broken = await run(["serve", "--config", configFile("[serve\n")]);
    expect(broken).toMatchObject({ code: 2, err: expect.stringMatching(/config.toml:\d+:\d+: /) });
    const missing = await run(["serve", "--config", "/nowhere/x.toml"]);
    expect(missing).toMatchObject({
      code: 2,
      err: expect.stringMatching(/cannot read the configuration file .*no such file/),
    });
  });

  test("config show tells each value's origin and hides secrets", async () => {
    const { out } = await run(["config", "show", "--json"], { DEMO_KEY: "s3cret", DEMO_PORT: "9" });
    const rows = JSON.parse(out) as { key: string; value: unknown; origin: string }[];
    expect(rows.find((row) => row.key === "serve.port")).toMatchObject({ value: 9, origin: "environment (DEMO_PORT)" });
    expect(rows.find((row) => row.key === "serve.key")).toMatchObject({ value: "********" });
    expect(out).not.toContain("s3cret");
  });
});

describe("output and exit codes", () => {
  test("a table for people, tabs for scripts, JSON for programs", async () => {
    expect((await run(["find", "apples"])).out).toBe("NAME         COUNT\napples           5\nlonger name   1000\n");
    expect((await run(["find", "apples", "--plain"])).out).toBe("apples\t5\nlonger name\t1000\n");
    expect(JSON.parse((await run(["find", "apples", "--json"])).out)).toEqual([
      { name: "apples", count: 5 },
      { name: "longer name", count: 1000 },
    ]);
  });

  test("errors meant for people show message and remedy; bugs show their stack", async () => {
    expect(await run(["find", "nothing"])).toEqual({ code: 3, out: "", err: "demo: nothing there\nLook elsewhere.\n" });
    expect(await run(["find", "bug"])).toMatchObject({ code: 1, err: expect.stringContaining("program.test.ts") });
    const json = await run(["find", "nothing", "--json"]);
    expect(JSON.parse(json.err)).toEqual({
      error: { message: "nothing there", remedy: "Look elsewhere.", exit_code: 3 },
    });
  });

  test("help and version are no failures, a command's own code is kept", async () => {
    expect(await run(["--version"])).toMatchObject({ code: 0, out: "1.2.3\n" });
    expect(await run(["tell", "--version", "3.9"])).toMatchObject({ code: 0, out: "version 3.9\n" });
    expect(await run(["serve", "--help"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("default: 8080; env: DEMO_PORT"),
    });
    expect(await run(["models", "pull"])).toMatchObject({ code: 3 });
    expect(await run(["models"])).toMatchObject({ code: 2 });
  });
});

describe("completion", () => {
  test.each([
    [[""], ["serve", "find", "models", "tell", "config", "completions"]],
    [["se"], ["serve"]],
    [["models", ""], ["pull"]],
    [["serve", "--le"], ["--level"]],
    [
      ["serve", "--level", ""],
      ["debug", "info"],
    ],
    [["find", "ap"], ["apples"]],
    [["completions", "f"], ["fish"]],
  ])("%j offers %j", async (words, offered) => {
    expect((await run(["__complete", ...words])).out.split("\n").slice(0, -1)).toEqual(offered);
  });

  test("scripts exist for three shells", async () => {
    for (const shell of ["bash", "zsh", "fish"])
      expect((await run(["completions", shell])).out).toContain("demo __complete");
    expect((await run(["completions", "tcsh"])).code).toBe(2);
  });
});
