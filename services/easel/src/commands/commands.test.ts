import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTerminal } from "../testing/open-terminal.js";
import { startEasel, type TestEasel } from "../testing/start-easel.js";

const PROGRAM = fileURLToPath(new URL("../../bin/easel.js", import.meta.url));
let easel: TestEasel;
let here: string;

beforeAll(async () => {
  easel = await startEasel();
  here = await mkdtemp(join(tmpdir(), "easel-commands-"));
});
afterAll(async () => {
  await easel?.stop();
});

interface Ended {
  readonly code: number | null;
  readonly out: Buffer;
  readonly err: string;
}

function run(
  args: readonly string[],
  options: { input?: string; env?: Record<string, string | undefined>; inPlace?: boolean } = {},
): Promise<Ended> {
  const server = options.inPlace ? {} : { SERVICE_URL: easel.url };
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: here,
    env: { ...process.env, ...easel.folders.env, ...server, ...options.env },
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  child.stdin.end(options.input ?? "");
  return new Promise((resolve) =>
    child.once("close", (code) => resolve({ code, out: Buffer.concat(out), err: Buffer.concat(err).toString() })),
  );
}

const small = ["--size", "64x64", "--steps", "2", "--seed", "5"];

describe("run", () => {
  test("writes the picture to a file and says the seed", async () => {
    const { code, out, err } = await run(["run", "a", "red", "fox", ...small, "-o", "fox.png", "--json"]);
    expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(out.toString())).toMatchObject({
      model: "tiny:local",
      seed_used: 5,
      images: [{ file: "fox.png", seed: 5, width: 64, height: 64 }],
    });
    expect((await sharp(join(here, "fox.png")).metadata()).width).toBe(64);
  });

  test("reads the prompt from standard input and writes the picture to standard output when both are piped", async () => {
    const { code, out, err } = await run(["run", "-", ...small, "--format", "webp"], { input: "two cats\n" });
    expect(code).toBe(0);
    expect((await sharp(out).metadata()).format).toBe("webp");
    expect(err).toMatch(/seed 5/);
  });

  test("numbers the files of a batch and takes the format from the name", async () => {
    const { code } = await run(["run", "cats", ...small, "--batch", "2", "-o", "cats.jpg", "--json"]);
    expect(code).toBe(0);
    expect((await readdir(here)).filter((name) => name.startsWith("cats"))).toEqual(["cats-1.jpg", "cats-2.jpg"]);
    expect((await sharp(join(here, "cats-2.jpg")).metadata()).format).toBe("jpeg");
  });

  test("starts from a picture, repaints under a mask and uses an adapter", async () => {
    await sharp({ create: { width: 64, height: 64, channels: 3, background: "#3060c0" } })
      .png()
      .toFile(join(here, "in.png"));
    const left = Buffer.from(
      '<svg width="64" height="64"><rect width="64" height="64" fill="#000"/><rect width="32" height="64" fill="#fff"/></svg>',
    );
    await sharp(left).png().toFile(join(here, "mask.png"));
    const { code, err } = await run([
      "run",
      "night",
      ...small,
      "-i",
      "in.png",
      "--mask",
      "mask.png",
      "--strength",
      "0.8",
      "--lora",
      "style.safetensors",
      "--lora-scale",
      "0.5",
      "-o",
      "night.png",
    ]);
    expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
    const pixels = await sharp(join(here, "night.png")).removeAlpha().raw().toBuffer();
    const at = (x: number, y: number) => [...pixels.subarray((y * 64 + x) * 3, (y * 64 + x) * 3 + 3)];
    expect(at(60, 32)).toEqual([0x30, 0x60, 0xc0]);
    expect(at(5, 32)).not.toEqual([0x30, 0x60, 0xc0]);
  });

  test.each([
    [["run", "x", "--size", "banana"], 2, /--size must be WIDTHxHEIGHT/],
    [["run", "x", "--steps", "0"], 2, /--steps must be a whole number between 1 and 150/],
    [["run", "x", "--image", "nowhere.png"], 2, /--image: cannot read nowhere.png/],
    [["run", "x", "-m", "tinny"], 3, /tiny/],
    [["run", "x", "--size", "65x64"], 2, /width/],
    [["run", "x", "--server", "http://127.0.0.1:9"], 4, /No server answers at http:\/\/127.0.0.1:9[\s\S]*easel serve/],
    [["run", "x", "--server", "nonsense"], 2, /--server must be an http or https address/],
    [["run"], 2, /standard input was empty/],
    [["rum", "x"], 2, /Did you mean run/],
    [["serve", "--cpu-math", "int4"], 2, /--cpu-math must be one of float32, int8 \(given: "int4"\)/],
  ])("%j ends with %i and says why", async (args, code, message) => {
    const ended = await run(args as string[]);
    expect(ended.err).toMatch(message as RegExp);
    expect(ended.code).toBe(code);
  });

  test("starts the engine in place when no server runs", async ({ skip }) => {
    const running = await fetch("http://127.0.0.1:7680/health").then(
      () => true,
      () => false,
    );
    skip(running, "a server runs on port 7680 of this machine, the command would use it");
    const { code, err } = await run(["run", "a fox", ...small, "-o", "place.png"], { inPlace: true });
    expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
    expect((await readFile(join(here, "place.png"))).length).toBeGreaterThan(100);
  });
});

describe("again", () => {
  test("makes the same bytes from the picture's own metadata, and another picture with another seed", async () => {
    await run(["run", "a castle", ...small, "-o", "castle.png"]);
    await run(["again", "castle.png", "-o", "castle-again.png"]);
    await run(["again", "castle.png", "--seed", "6", "-o", "castle-six.png"]);
    const [first, again, six] = await Promise.all(
      ["castle.png", "castle-again.png", "castle-six.png"].map((name) => readFile(join(here, name))),
    );
    expect(again!.equals(first!)).toBe(true);
    expect(six!.equals(first!)).toBe(false);
  });

  test("says what it cannot make again", async () => {
    await writeFile(
      join(here, "plain.png"),
      await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
        .png()
        .toBuffer(),
    );
    expect(await run(["again", "plain.png"])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/carries no settings/),
    });
    expect(await run(["again", "missing.png"])).toMatchObject({ code: 3 });
  });
});

describe("models, jobs, gallery and status", () => {
  test("models list, info, load and unload", async () => {
    const rows = JSON.parse((await run(["models", "list", "--downloaded", "--json"])).out.toString()) as {
      name: string;
    }[];
    expect(rows.map((row) => row.name)).toEqual(expect.arrayContaining(["tiny:local", "other:local"]));
    expect((await run(["models", "info", "tiny"])).out.toString()).toMatch(/tiny:local/);
    expect((await run(["models", "load", "other"])).out.toString()).toMatch(/other:local loaded in/);
    expect((await run(["models", "unload"])).out.toString()).toMatch(/unloaded .*other:local/);
    expect((await run(["models", "rm", "doodle"])).code).not.toBe(0);
  });

  test("gallery list, show and rm", async () => {
    await run(["run", "a tree", ...small, "-o", "tree.png"]);
    const page = JSON.parse((await run(["gallery", "list", "--json"])).out.toString()) as {
      images: { name: string; metadata: { prompt: string } }[];
    };
    const tree = page.images.find((image) => image.metadata.prompt === "a tree")!;
    expect((await run(["gallery", "show", tree.name, "-o", "copy.png"])).out.toString()).toMatch(/a tree/);
    expect((await readFile(join(here, "copy.png"))).length).toBeGreaterThan(100);
    expect((await run(["gallery", "rm", tree.name])).code).toBe(0);
    expect((await run(["gallery", "show", tree.name])).code).toBe(3);
  });

  test("status, ps and config show", async () => {
    expect(JSON.parse((await run(["status", "--json"])).out.toString())).toMatchObject({ busy: false, gpu_info: null });
    expect((await run(["ps", "--plain"])).out.toString()).toMatch(/complete/);
    expect((await run(["config", "show", "--json"])).out.toString()).toContain('"SERVICE_OUTPUT_DIR"');
  });

  test("completion knows the server's models", async () => {
    const { out } = await run(["__complete", "models", "info", "ti"]);
    expect(out.toString()).toBe("tiny:local\n");
  });
});

describe("on a terminal", () => {
  test("shows stages, a bar, the picture in half-blocks and the seed", async () => {
    const terminal = openTerminal({
      args: ["run", "a red fox", ...small, "--server", easel.url, "-o", "shown.png"],
      env: easel.folders.env,
      cwd: here,
    });
    expect(await terminal.ended()).toBe(0);
    expect(terminal.written()).toMatch(/drawing/);
    expect(terminal.written()).toContain("▀");
    expect(terminal.written()).toMatch(/seed 5/);
    expect(await readdir(here)).toContain("shown.png");
  });

  test("Ctrl-C cancels the job on the server too", async () => {
    const terminal = openTerminal({
      args: ["run", "slow", "--size", "512x512", "--steps", "150", "--server", easel.url],
      env: easel.folders.env,
      cwd: here,
    });
    await terminal.waitFor(/drawing/);
    terminal.type("\u0003");
    expect(await terminal.ended()).toBe(130);
    await expect
      .poll(async () => (await easel.client.listJobs()).jobs.find((job) => job.prompt === "slow")?.state, {
        timeout: 20_000,
      })
      .toBe("cancelled");
  });
});
