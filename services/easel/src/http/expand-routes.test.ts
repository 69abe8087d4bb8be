/** POST /api/expand, `expand: true` and `easel expand` against the real program. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExpandResponse } from "../contract/expand.js";
import { answer, type ChatServer, refuse, startChatServer } from "../expand/test-support/chat-server.js";
import { createTestFolders, startEasel, type TestEasel, type TestFolders } from "../testing/start-easel.js";

const PROGRAM = fileURLToPath(new URL("../../bin/easel.js", import.meta.url));
const BUILT_IN_MODEL = fileURLToPath(new URL("../../../../models/expander/expander-q8_0.gguf", import.meta.url));
const run = promisify(execFile);
const post = (url: string, path: string, body: unknown) =>
  fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

describe("with the built-in language model", () => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startEasel();
  });
  afterAll(() => easel.stop());
  const expand = (body: unknown) => post(easel.url, "/api/expand", body);

  it("expands for doodle, the same for the same seed", async () => {
    const request = { prompt: "a red fox", model: "doodle", variations: 3, seed: 7 };
    const first = (await (await expand(request)).json()) as ExpandResponse;
    expect(first).toEqual({ original: "a red fox", expanded: expect.any(Array), model: "expander:q8" });
    expect(new Set(first.expanded).size).toBe(3);
    for (const text of first.expanded) expect(text).toMatch(/red.*fox/);
    expect(await (await expand(request)).json()).toEqual(first);
  });

  it("expands one variation for the default model when only a prompt is given", async () => {
    const response = await expand({ prompt: "lighthouse" });
    expect(response.status).toBe(200);
    expect(((await response.json()) as ExpandResponse).expanded).toHaveLength(1);
  });

  it.each([
    [{}, 422, "VALIDATION_ERROR", /prompt/],
    [{ prompt: "   " }, 422, "VALIDATION_ERROR", /prompt/],
    [{ prompt: "?!" }, 422, "VALIDATION_ERROR", /no word/],
    [{ prompt: "word ".repeat(80) }, 422, "VALIDATION_ERROR", /80 words/],
    [{ prompt: "cat", variations: 9 }, 422, "VALIDATION_ERROR", /variations/],
    [{ prompt: "cat", model: "dodle" }, 404, "UNKNOWN_MODEL", /doodle/],
  ])("refuses %j", async (body, status, code, message) => {
    const response = await expand(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it("expands before drawing, and says what was drawn", async () => {
    const response = await post(easel.url, "/api/generate", { prompt: "a red fox", expand: true, seed: 3, steps: 1 });
    expect(response.status).toBe(200);
    expect(decodeURIComponent(response.headers.get("x-service-prompt") ?? "")).toMatch(/red.*fox.*\w/);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
  });

  it("is a command, with and without a server", async () => {
    const env = { ...process.env, ...easel.folders.env };
    const args = [PROGRAM, "expand", "a", "red", "fox", "--seed", "7", "--variations", "2"];
    const served = await run(process.execPath, [...args, "--server", easel.url], { env });
    const lines = served.stdout.trim().split("\n");
    expect(lines).toHaveLength(2);
    const inPlace = await run(process.execPath, [...args, "--json"], { env: { ...env, SERVICE_URL: undefined } });
    expect(JSON.parse(inPlace.stdout)).toMatchObject({ original: "a red fox", expanded: lines, model: "expander:q8" });
  });
});

describe("with a language model that is too large", () => {
  it("keeps to the server's one memory budget, says the figures and draws nothing", async () => {
    const folders = await createTestFolders();
    const large = join(folders.root, "large.gguf");
    // The real model's head on a file of 600 MiB: it must be refused by its size, before anything of it is loaded.
    await copyFile(BUILT_IN_MODEL, large);
    await truncate(large, 600 * 2 ** 20);
    const easel = await startEasel({ folders, env: { SERVICE_EXPAND_MODEL: large, SERVICE_MEMORY_BUDGET: "500M" } });
    expect((await post(easel.url, "/api/generate", { prompt: "a fox", steps: 1 })).status).toBe(200);
    const refusal = { code: "OUT_OF_MEMORY", message: expect.stringMatching(/needs \d+ MiB and \d+ MiB are free/) };
    const expanded = await post(easel.url, "/api/expand", { prompt: "a red fox" });
    expect(expanded.status).toBe(503);
    expect(await expanded.json()).toMatchObject(refusal);
    const drawn = await post(easel.url, "/api/generate", { prompt: "a red fox", expand: true, steps: 1 });
    expect(drawn.status).toBe(503);
    expect(await drawn.json()).toMatchObject(refusal);
    expect(await (await fetch(`${easel.url}/api/gallery`)).json()).toMatchObject({ total: 1 });
    await easel.stop();
    await folders.remove();
  });
});

describe("with an endpoint", () => {
  let folders: TestFolders;
  let chat: ChatServer;
  beforeAll(async () => {
    folders = await createTestFolders();
  });
  afterAll(() => folders.remove());

  it("uses it, with the configuration's templates", async () => {
    await mkdir(join(folders.root, "config", "easel"), { recursive: true });
    await writeFile(
      join(folders.root, "config", "easel", "config.toml"),
      '[expand.templates.default]\ninstruction = "Write like a sailor, {max_words} words."\nmax_words = 20\n',
    );
    chat = await startChatServer(answer("a red fox on a wooden ship, stormy sea, oil painting"));
    const easel = await startEasel({ folders, env: { SERVICE_EXPAND_URL: chat.url, SERVICE_EXPAND_MODEL: "small" } });
    const response = await post(easel.url, "/api/expand", { prompt: "a red fox" });
    expect(await response.json()).toMatchObject({ expanded: ["a red fox on a wooden ship, stormy sea, oil painting"] });
    expect(chat.seen[0]?.body.messages[0]?.content).toBe("Write like a sailor, 20 words.");
    await easel.stop();
    await chat.close();
  });

  it("draws nothing when it fails, and says so", async () => {
    chat = await startChatServer(refuse(401, "bad key"));
    const easel = await startEasel({ folders, env: { SERVICE_EXPAND_URL: chat.url } });
    const expanded = await post(easel.url, "/api/expand", { prompt: "a red fox" });
    expect(expanded.status).toBe(503);
    expect(await expanded.json()).toMatchObject({
      code: "EXPANSION_FAILED",
      message: expect.stringMatching(/SERVICE_EXPAND_KEY/),
    });
    const drawn = await post(easel.url, "/api/generate", { prompt: "a red fox", expand: true, steps: 1 });
    expect(drawn.status).toBe(503);
    expect(await drawn.json()).toMatchObject({ code: "EXPANSION_FAILED" });
    const gallery = await (await fetch(`${easel.url}/api/gallery`)).json();
    expect(gallery).toMatchObject({ images: [] });
    await easel.stop();
    await chat.close();
  });
});
