import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PullProgress } from "../../contract/models.js";
import { startHub, type TestHub } from "../../testing/start-hub.js";
import type { CatalogueModel } from "../catalogue/catalogue-types.js";
import { createModelStore } from "../model-store.js";
import { createHub } from "./hub-client.js";
import { createPullDesk } from "./pull-desk.js";

const REPOSITORY = "someone/something";
const WEIGHTS = "unet/diffusion_pytorch_model.fp16.safetensors";
const content = Buffer.from(Uint8Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 251));
const files = {
  "model_index.json": Buffer.from("{}"),
  [WEIGHTS]: content,
  "vae/weights.safetensors": Buffer.alloc(5_000, 3),
};

const part = {
  folder: "something/fp16",
  repository: REPOSITORY,
  files: [
    { path: "model_index.json" },
    { path: WEIGHTS, saveAs: "unet/diffusion_pytorch_model.safetensors" },
    { path: "vae/weights.safetensors" },
  ],
  approximateBytes: 205_000,
};
const catalogue: CatalogueModel[] = [
  {
    name: "something",
    family: "test",
    kind: "image",
    description: "",
    license: "",
    defaults: { width: 64, height: 64, steps: 1, guidance: 1 },
    recommendedSizes: [],
    recommended: "fp16",
    variants: [
      { variant: "fp16", main: part },
      { variant: "q8", main: part, quantisation: "q8" },
    ],
  },
];

let hub: TestHub;
let root: string;
beforeEach(async () => {
  hub = await startHub();
  hub.add(REPOSITORY, files);
  root = await mkdtemp(join(tmpdir(), "pull-"));
});
afterEach(async () => {
  await hub.stop();
  await rm(root, { recursive: true });
});

const store = () => createModelStore({ catalogue, modelsFolder: root, builtinFolder: root, defaultModel: "something" });
const openDesk = (token?: string, stallMs = 5_000) =>
  createPullDesk(createHub({ endpoint: hub.url, token }), root, { retryDelayMs: 5, stallMs });

async function pull(
  options: {
    token?: string;
    desk?: ReturnType<typeof openDesk>;
    variant?: string;
    /** given up as soon as some of the weights are here */
    leaving?: boolean;
  } = {},
) {
  const progress: PullProgress[] = [];
  const desk = options.desk ?? openDesk(options.token);
  const model = await store().resolve(`something:${options.variant ?? "fp16"}`);
  const stop = new AbortController();
  await desk.pull(model, {
    signal: stop.signal,
    onProgress: (event) => {
      progress.push(event);
      const begun = "filename" in event && event.filename === WEIGHTS && event.bytes_downloaded > 0;
      if (begun && options.leaving) stop.abort();
    },
  });
  return progress.filter((event) => event.type === "download_progress");
}

const target = () => join(root, "something/fp16/unet/diffusion_pytorch_model.safetensors");
/** Told in one word: the difference of two such files would take minutes to print. */
const holds = async (expected: Buffer) => (await readFile(target())).equals(expected);
const fileRequests = (path = WEIGHTS) =>
  hub.requests.filter((r) => r.host === "cdn" && decodeURIComponent(r.path).endsWith(path));

describe("pulling a model", () => {
  test("brings every file, under its own name, with progress for each", async () => {
    const progress = await pull();
    expect(await holds(content)).toBe(true);
    expect((await store().resolve("something")).downloaded).toBe(true);
    const last = new Map(progress.map((event) => [event.filename, event]));
    expect(
      [...last.values()].map((e) => [e.file_index, e.total_files, e.bytes_downloaded === e.bytes_total]).sort(),
    ).toEqual([
      [1, 3, true],
      [2, 3, true],
      [3, 3, true],
    ]);
    expect(
      (await readdir(join(root, "something/fp16"), { recursive: true })).filter((name) => name.includes("partial")),
    ).toEqual([]);
  });

  test("a second pull asks the hub for nothing", async () => {
    await pull();
    hub.requests.length = 0;
    await pull();
    expect(hub.requests).toEqual([]);
  });

  test("the token goes to the hub and never to the CDN", async () => {
    await pull({ token: "hf_secret" });
    for (const request of hub.requests) {
      expect(request.authorization).toBe(request.host === "hub" ? "Bearer hf_secret" : undefined);
    }
    expect(hub.requests.some((request) => request.host === "cdn")).toBe(true);
  });

  test("a cut connection is taken up again where it ended", async () => {
    hub.misbehaviour.set(WEIGHTS, { cutAfter: { bytes: 50_000, times: 2 } });
    await pull();
    expect(await holds(content)).toBe(true);
    const ranges = fileRequests().map((request) => Number(/\d+/.exec(request.range ?? "0")?.[0]));
    expect(ranges).toHaveLength(3);
    expect(ranges[0]).toBe(0);
    expect(ranges[1]).toBeGreaterThan(0);
    expect(ranges[2]).toBeGreaterThan(ranges[1]!);
  });

  test("an interrupted pull leaves no file under its real name and goes on later", async () => {
    hub.misbehaviour.set(WEIGHTS, { bytesPerSecond: 100_000 });
    await expect(pull({ leaving: true })).rejects.toThrow();
    await expect(stat(target())).rejects.toThrow();
    hub.misbehaviour.clear();
    hub.requests.length = 0;
    const progress = await pull();
    expect(await holds(content)).toBe(true);
    expect(fileRequests()[0]!.range).toMatch(/^bytes=[1-9]\d+-$/);
    expect(progress.find((event) => event.filename === WEIGHTS)!.bytes_downloaded).toBeGreaterThan(0);
  });

  test("a file that changed on the hub is not glued to the old beginning", async () => {
    hub.misbehaviour.set(WEIGHTS, { bytesPerSecond: 100_000 });
    await expect(pull({ leaving: true })).rejects.toThrow();
    await expect(stat(target())).rejects.toThrow();
    const changed = Buffer.from(content).reverse();
    hub.add(REPOSITORY, { ...files, [WEIGHTS]: changed });
    hub.misbehaviour.clear();
    await pull();
    expect(await holds(changed)).toBe(true);
  });

  test("a hub that ignores ranges sends the file anew", async () => {
    hub.misbehaviour.set(WEIGHTS, { cutAfter: { bytes: 50_000, times: 1 }, ignoresRanges: true });
    await pull();
    expect(await holds(content)).toBe(true);
  });

  test("errors that pass are waited out, errors that stay are told", async () => {
    hub.misbehaviour.set(WEIGHTS, { fails: { status: 503, times: 2 } });
    await pull();
    hub.misbehaviour.set("vae/weights.safetensors", { fails: { status: 500, times: 99 } });
    await rm(join(root, "something/fp16/vae"), { recursive: true });
    await expect(pull()).rejects.toMatchObject({ code: "HUB_ERROR", message: expect.stringContaining("5 times") });
  });

  test("a connection that sends nothing is given up and tried again", async () => {
    hub.misbehaviour.set(WEIGHTS, { bytesPerSecond: 4_000, slowTimes: 1 });
    await pull({ desk: openDesk(undefined, 500) });
    expect(fileRequests()).toHaveLength(2);
    expect(await holds(content)).toBe(true);
  });

  test.each([
    [{ listedSize: 200_001 }, /lists .* with 200001 bytes but sends 200000/],
    [{ listedSize: 199_999 }, /lists .* with 199999 bytes but sends 200000/],
    [{ listedHash: "0".repeat(64) }, /sends another .* than the one it lists/],
    [{ sends: Buffer.alloc(200_000, 9) }, /SHA-256 is not the hub's. It was deleted/],
  ])("a hub that lies is found out and nothing is kept: %#", async (lie, message) => {
    hub.misbehaviour.set(WEIGHTS, lie);
    await expect(pull()).rejects.toMatchObject({ code: "HUB_ERROR", message: expect.stringMatching(message) });
    await expect(stat(target())).rejects.toThrow();
    expect((await store().resolve("something")).downloaded).toBe(false);
  });

  test.each([
    [401, undefined, "FORBIDDEN", /wants a login.*HF_TOKEN/],
    [401, "hf_old", "FORBIDDEN", /does not accept the token/],
    [403, undefined, "FORBIDDEN", /gated.*accept its terms/],
    [403, "hf_mine", "FORBIDDEN", /gated.*account of HF_TOKEN/],
    [404, undefined, "HUB_ERROR", /has no 'someone\/something'/],
    [500, undefined, "HUB_ERROR", /answered 500/],
  ])("status %i with token %s is explained", async (status, token, code, message) => {
    hub.repositoryStatus.set(REPOSITORY, status);
    await expect(pull(token === undefined ? {} : { token })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  test("a hub that is not there is named", async () => {
    await hub.stop();
    await expect(pull()).rejects.toMatchObject({
      code: "HUB_ERROR",
      message: expect.stringMatching(/127\.0\.0\.1:\d+ cannot be reached/),
    });
    hub = await startHub();
  });

  test("a file the repository lacks, and one that is not the catalogue's, stop the pull before it begins", async () => {
    hub.add(REPOSITORY, { "model_index.json": Buffer.from("{}") });
    await expect(pull()).rejects.toThrow(/has no file 'unet/);
  });

  test("too little room on the disk is found before the first byte", async () => {
    hub.misbehaviour.set(WEIGHTS, { listedSize: 2 ** 52 });
    await expect(pull()).rejects.toMatchObject({
      code: "INSUFFICIENT_STORAGE",
      message: expect.stringMatching(/needs 4,503,\d+,\d+ MB .* are free/),
    });
    expect(hub.requests.every((request) => request.path.includes("/tree/"))).toBe(true);
  });

  test("pulls of one model, and of variants that share files, share one download", async () => {
    hub.misbehaviour.set(WEIGHTS, { bytesPerSecond: 100_000 });
    const desk = openDesk();
    const results = await Promise.allSettled([
      pull({ desk }),
      pull({ desk, variant: "q8" }),
      pull({ desk, leaving: true }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(fileRequests()).toHaveLength(1);
    expect(await holds(content)).toBe(true);
  });

  test("what lies in the folder already is not fetched again, and removing frees it", async () => {
    await pull();
    await rm(join(root, "something/fp16/model_index.json"));
    hub.requests.length = 0;
    await pull();
    expect(hub.requests.map(({ path }) => path).filter((path) => path.includes("resolve"))).toEqual([
      `/${REPOSITORY}/resolve/main/model_index.json`,
    ]);
    const model = await store().resolve("something");
    expect(await store().remove(model)).toBe(205_002);
    expect((await store().resolve("something")).downloaded).toBe(false);
    await writeFile(join(root, "still-writable"), "");
  });
});
