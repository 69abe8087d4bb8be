/** The engine as the server uses it: a real child process, tiny checkpoints, and everything that may happen to a process. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TINY_ADAPTER_LAYERS, writeTinyAdapter, writeTinyCheckpoint } from "@kit/diffusion/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Engine, EngineJob, EngineProgress, Pixels } from "./engine-api.js";
import { createEngine } from "./engine-host.js";
import type { EngineOptions } from "./engine-options.js";

let folder: string;
const engines: Engine[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "engine-"));
  await writeTinyCheckpoint(join(folder, "tiny"));
  await writeTinyCheckpoint(join(folder, "other"), { seed: 2 });
  await writeTinyAdapter(join(folder, "adapter.safetensors"));
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const engine = await createEngine({ backend: "cpu", threads: 1, scratchFolder: folder, ...options });
  engines.push(engine);
  return engine;
}

function createJob(changes: Partial<EngineJob> = {}): EngineJob {
  return {
    model: { name: "tiny:f32", path: join(folder, "tiny") },
    prompt: "a cat",
    negativePrompt: "",
    width: 64,
    height: 64,
    steps: 3,
    guidance: 4,
    seed: 7,
    batch: 1,
    adapters: [],
    preview: false,
    ...changes,
  };
}

/** The engine process, found as the operating system sees it: the latest child that runs engine-process.js. */
function findEnginePid(): number {
  const children = execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(process.pid)], { encoding: "utf8" });
  const line = children.split("\n").findLast((entry) => entry.includes("engine-process.js"));
  return Number(line?.trim().split(" ")[0]);
}

/** Where Linux keeps groups of processes with a limit of their own (second and first version); writable for root, and not in every container. */
const CONTROL_GROUPS = [
  { root: "/sys/fs/cgroup", limit: "memory.max", needs: "cgroup.subtree_control" },
  { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", needs: "memory.limit_in_bytes" },
] as const;

function findControlGroup() {
  return CONTROL_GROUPS.find(({ root, needs }) => {
    try {
      accessSync(join(root, needs), constants.W_OK);
      return needs !== "cgroup.subtree_control" || readFileSync(join(root, needs), "utf8").includes("memory");
    } catch {
      return false;
    }
  });
}

function canLimitMemory(): boolean {
  if (findControlGroup()) return true;
  console.log("engine-host.test: the kernel's memory kill is not provoked, control groups cannot be written here");
  return false;
}

/** Puts a process into a group of its own that may hold so many bytes. */
function limitMemory(pid: number, bytes: number): { remove(): void } {
  const { root, limit } = findControlGroup()!;
  const group = mkdtempSync(join(root, "easel-test-"));
  writeFileSync(join(group, limit), String(bytes));
  writeFileSync(join(group, "cgroup.procs"), String(pid));
  return { remove: () => rmdirSync(group) };
}

/** Pictures as short texts, so that a difference does not print a million numbers. */
function digest(images: readonly Pixels[]): string[] {
  return images.map(({ width, height, rgb }) => `${width}x${height} ${createHash("sha256").update(rgb).digest("hex")}`);
}

/** For tests that leave the process as they found it. */
let shared: Engine;
beforeAll(async () => {
  shared = await createEngine({ backend: "cpu", threads: 1, scratchFolder: folder });
});
afterAll(() => shared.close());

/** Long enough to be interfered with: hundreds of steps. */
const longJob = () => createJob({ width: 256, height: 256, steps: 150 });

/** A job whose first step is done: `outcome` is its error, or undefined if it ended well. */
async function startLongJob(engine: Engine, signal?: AbortSignal) {
  let outcome: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve) => {
    const onProgress = (progress: EngineProgress) => {
      if (progress.type === "denoise_step") resolve();
    };
    outcome = engine.generate(longJob(), { onProgress, ...(signal ? { signal } : {}) }).then(
      () => undefined,
      (error: unknown) => {
        resolve();
        return error;
      },
    );
  });
  return { outcome };
}

function createPicture(side: number): Pixels {
  return { width: side, height: side, rgb: Uint8Array.from({ length: side * side * 3 }, (_, i) => (i * 7) % 256) };
}

describe("drawing", () => {
  it("gives the same bytes for the same seed, in one process and in the next", async () => {
    const first = await shared.generate(createJob({ batch: 2 }));
    expect(first.images).toHaveLength(2);
    const again = await shared.generate(createJob({ batch: 2 }));
    expect(digest(again.images)).toEqual(digest(first.images));
    expect(await shared.unload()).toEqual(["tiny:f32"]);
    const alone = await shared.generate(createJob({ seed: 8 }));
    expect(digest(alone.images)[0]).toBe(digest(first.images)[1]);
    expect(digest(first.images)[0]).not.toBe(digest(first.images)[1]);
  });

  it("reports stages, weights and steps in order, with previews where asked for", async () => {
    const seen: EngineProgress[] = [];
    await shared.unload();
    await shared.generate(createJob({ batch: 2, preview: true }), { onProgress: (progress) => seen.push(progress) });
    const steps = seen.filter((progress) => progress.type === "denoise_step");
    expect(steps.map(({ step, total, image }) => [image, step, total])).toEqual([
      [0, 1, 3],
      [0, 2, 3],
      [0, 3, 3],
      [1, 1, 3],
      [1, 2, 3],
      [1, 3, 3],
    ]);
    const previews = seen.filter((progress) => progress.type === "preview");
    expect(previews).toHaveLength(6);
    expect(previews[0]!.pixels).toMatchObject({ width: 8, height: 8 });
    const stages = seen.flatMap((progress) => (progress.type === "stage_start" ? [progress.name] : []));
    expect(stages.filter((name) => !name.startsWith("loading"))).toEqual(["encoding prompt", "denoising", "decoding"]);
    expect(stages).toContain("loading unet");
  });

  it.each([
    [10, 0.75, 7],
    [10, 0.7, 7],
    [100, 0.29, 29],
    [4, 0.1, 1],
    [3, 1, 3],
  ])("runs floor(%d * %d) = %d steps from an image", async (steps, strength, expected) => {
    let last: EngineProgress | undefined;
    const onProgress = (progress: EngineProgress) => {
      if (progress.type === "denoise_step") last = progress;
    };
    await shared.generate(createJob({ steps, strength, image: createPicture(64) }), { onProgress });
    expect(last).toMatchObject({ step: expected, total: expected });
  });

  it("gives the picture back through the VAE at strength 0", async () => {
    const onProgress = (progress: EngineProgress) => expect(progress.type).not.toBe("denoise_step");
    const job = createJob({ strength: 0, image: createPicture(64) });
    const { images } = await shared.generate(job, { onProgress });
    const other = await shared.generate({ ...job, seed: 99, prompt: "a dog" }, { onProgress });
    expect(digest(other.images)).toEqual(digest(images));
  });

  it.each(["sd1", "inpaint"] as const)("keeps masked pixels exactly (%s)", async (kind) => {
    const path = await writeTinyCheckpoint(join(folder, `mask-${kind}`), { kind });
    const image = createPicture(128);
    const mask = new Uint8Array(128 * 128);
    for (let y = 20; y < 70; y++) mask.fill(255, y * 128 + 33, y * 128 + 99);
    for (const nativeArea of [128 * 128, 64 * 64]) {
      const model = { name: kind, path, nativeArea };
      const { images } = await shared.generate(
        createJob({ model, width: 128, height: 128, image, mask, strength: 0.8 }),
      );
      let kept = 0;
      let repainted = 0;
      for (const [i, share] of mask.entries()) {
        const equal = [0, 1, 2].every((c) => images[0]!.rgb[i * 3 + c] === image.rgb[i * 3 + c]);
        if (share === 0) kept += equal ? 1 : 0;
        else repainted += equal ? 0 : 1;
      }
      expect(kept).toBe(128 * 128 - 50 * 66);
      expect(repainted).toBeGreaterThan(50 * 66 * 0.9);
    }
  });

  it("reads prompts beyond 75 tokens to their end, minds weights, and says what it cut", async () => {
    const words = Array(100).fill("cat").join(" ");
    const draw = async (prompt: string, guidance = 1) =>
      digest((await shared.generate(createJob({ prompt, guidance }))).images)[0];
    expect(await draw(`${words} red`)).not.toBe(await draw(`${words} blue`));
    expect(await draw("a (red:1.5) cat")).not.toBe(await draw("a red cat"));
    expect(await draw("a (red:1.0) cat", 4)).toBe(await draw("a red cat", 4));
    const endless = await shared.generate(
      createJob({ prompt: Array(1300).fill("a").join(" "), guidance: 4, steps: 1 }),
    );
    expect(endless.warnings).toEqual(["the positive prompt is too long: its last 100 tokens were left out"]);
  });

  it("draws large requests at the native size, enlarges them and says so", async () => {
    const model = { name: "small", path: join(folder, "tiny"), nativeArea: 128 * 128 };
    const { images, warnings } = await shared.generate(createJob({ model, width: 512, height: 256 }));
    expect(images[0]).toMatchObject({ width: 512, height: 256 });
    expect(images[0]!.rgb).toHaveLength(512 * 256 * 3);
    expect(warnings[0]).toMatch(/drawn at \d+x\d+.*enlarged to 512x256/);
  });

  it("draws a size the model was trained on, and continues its edges to shapes beyond", async () => {
    const trainedSizes = { side: 128, least: 128, most: 128, ratio: 1, area: 128 * 128, step: 32 };
    const model = { name: "square", path: join(folder, "tiny"), trainedSizes };
    const square = (await shared.generate(createJob({ model, width: 128, height: 128 }))).images[0]!;
    const wide = await shared.generate(createJob({ model, width: 192, height: 128 }));
    expect(wide.images[0]).toMatchObject({ width: 192, height: 128 });
    expect(wide.warnings[0]).toBe(
      "drawn at 128x128, a size this model was trained on, with its edges continued to 192x128",
    );
    // beyond the seam the square is there unchanged, 32 pixels from the left
    const [row, from, length] = [64, 32 + 8, 128 - 16];
    const middle = wide.images[0]!.rgb.subarray((row * 192 + from) * 3, (row * 192 + from + length) * 3);
    expect([...middle]).toEqual([...square.rgb.subarray((row * 128 + 8) * 3, (row * 128 + 8 + length) * 3)]);
    const small = await shared.generate(createJob({ model, width: 64, height: 96, batch: 2 }));
    expect(small.images.map(({ width, height }) => [width, height])).toEqual([
      [64, 96],
      [64, 96],
    ]);
    expect(small.warnings[0]).toMatch(/edges continued to 128x192 and shrunk to 64x96$/);
    const seeded = await shared.generate(createJob({ model, width: 64, height: 96, seed: createJob().seed + 1 }));
    expect(digest(seeded.images)[0]).toBe(digest(small.images)[1]);
  });

  it("encodes and decodes large pictures in tiles", async () => {
    const rgb = Uint8Array.from({ length: 1024 * 832 * 3 }, (_, i) => (i >> 4) % 256);
    const image = { width: 1024, height: 832, rgb };
    const { images } = await shared.generate(createJob({ width: 1024, height: 832, image, strength: 0 }));
    expect(images[0]!.rgb).toHaveLength(rgb.length);
  });
});

describe("adapters", () => {
  it("change the picture, and taking them away restores it exactly without reloading", async () => {
    const adapters = [{ path: join(folder, "adapter.safetensors"), scale: 0.9 }];
    const plain = await shared.generate(createJob());
    const adapted = await shared.generate(createJob({ adapters }));
    expect(digest(adapted.images)).not.toEqual(digest(plain.images));
    const loads: string[] = [];
    const onProgress = (progress: EngineProgress) => {
      if (progress.type === "weight_load") loads.push(progress.component);
    };
    expect(digest((await shared.generate(createJob(), { onProgress })).images)).toEqual(digest(plain.images));
    expect(digest((await shared.generate(createJob({ adapters }), { onProgress })).images)).toEqual(
      digest(adapted.images),
    );
    expect(loads).toEqual([]);
    const scaleZero = [{ ...adapters[0]!, scale: 0 }];
    expect(digest((await shared.generate(createJob({ adapters: scaleZero }))).images)).toEqual(digest(plain.images));
  });

  it.each(["peft", "diffusers", "kohya"] as const)("are found under %s names", async (naming) => {
    const path = await writeTinyAdapter(join(folder, `${naming}.safetensors`), { naming });
    expect(await shared.checkAdapter(createJob().model, path)).toEqual({ matchedLayers: TINY_ADAPTER_LAYERS });
  });

  it("are refused with a reason if they are none or fit nothing", async () => {
    const { model } = createJob();
    const check = (path: string) => shared.checkAdapter(model, path);
    const refused = (message: string) =>
      expect.objectContaining({ code: "VALIDATION_ERROR", message: expect.stringContaining(message) });
    await expect(check(join(folder, "missing.safetensors"))).rejects.toEqual(refused("missing.safetensors"));
    await writeFile(join(folder, "junk.safetensors"), "not a tensor file at all, really");
    await expect(check(join(folder, "junk.safetensors"))).rejects.toEqual(refused("junk.safetensors"));
    await expect(check(join(folder, "tiny/unet/diffusion_pytorch_model.safetensors"))).rejects.toEqual(
      refused("not a LoRA adapter"),
    );
    const wide = await writeTinyAdapter(join(folder, "wide.safetensors"), { width: 2 });
    await expect(check(wide)).rejects.toEqual(refused("made for another model"));
    const foreign = await writeTinyAdapter(join(folder, "foreign.safetensors"), { prefix: "transformer_" });
    await expect(check(foreign)).rejects.toEqual(refused("none of its 8 layers fits this model"));
  });
});

describe("a process that dies, hangs or is cut short", () => {
  it("fails only the running job when it is killed, and the next one works", async () => {
    const engine = await startEngine();
    const expected = await engine.generate(createJob());
    const { outcome } = await startLongJob(engine);
    const waiting = engine.generate(createJob());
    process.kill(findEnginePid(), "SIGKILL");
    expect(await outcome).toMatchObject({
      code: "INFERENCE_ERROR",
      message: expect.stringContaining("SIGKILL"),
    });
    expect(digest((await waiting).images)).toEqual(digest(expected.images));
  });

  it.skipIf(!canLimitMemory())("is told apart when the kernel kills it for memory; only that job fails", async () => {
    const engine = await startEngine();
    const expected = await engine.generate(createJob());
    const pid = findEnginePid();
    const limit = limitMemory(pid, 16 * 2 ** 20);
    try {
      // its feature maps are larger than that
      await expect(engine.generate(createJob({ width: 1024, height: 1024 }))).rejects.toMatchObject({
        code: "OUT_OF_MEMORY",
        message: expect.stringContaining("the system killed the engine because memory ran out"),
      });
    } finally {
      limit.remove();
    }
    expect(digest((await engine.generate(createJob())).images)).toEqual(digest(expected.images));
    expect(findEnginePid()).not.toBe(pid);
  });

  it("restarts a process that hangs", async () => {
    const engine = await startEngine({ watchdogMs: 6_000 });
    const { outcome } = await startLongJob(engine);
    process.kill(findEnginePid(), "SIGSTOP");
    expect(engine.status()).toMatchObject({ busy: true, modelsLoaded: ["tiny:f32"] });
    expect(await outcome).toMatchObject({ code: "INFERENCE_ERROR", message: expect.stringContaining("6 s") });
    expect(engine.status().modelsLoaded).toEqual([]);
    expect((await engine.generate(createJob())).images).toHaveLength(1);
  });

  it("stops between steps when cancelled, and keeps the model", async () => {
    const engine = await startEngine();
    const controller = new AbortController();
    const { outcome } = await startLongJob(engine, controller.signal);
    const pid = findEnginePid();
    controller.abort();
    expect(await outcome).toMatchObject({ code: "CANCELLED" });
    await engine.generate(createJob());
    expect(findEnginePid()).toBe(pid);
  });

  it("is killed when a cancelled step does not end in time", async () => {
    const engine = await startEngine({ cancelGraceMs: 200 });
    const controller = new AbortController();
    const { outcome } = await startLongJob(engine, controller.signal);
    const pid = findEnginePid();
    process.kill(pid, "SIGSTOP");
    controller.abort();
    expect(await outcome).toMatchObject({ code: "CANCELLED" });
    await engine.generate(createJob());
    expect(findEnginePid()).not.toBe(pid);
  });

  it("leaves the line when cancelled while waiting", async () => {
    const engine = await startEngine();
    const first = new AbortController();
    const { outcome } = await startLongJob(engine, first.signal);
    const second = new AbortController();
    const waiting = engine.generate(createJob(), { signal: second.signal });
    second.abort();
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
    first.abort();
    expect(await outcome).toMatchObject({ code: "CANCELLED" });
    await expect(engine.generate(createJob(), { signal: second.signal })).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("closes while the process is being started", async () => {
    const engine = await startEngine();
    const outcome = engine.generate(createJob()).catch((error: unknown) => error);
    await engine.close();
    expect(await outcome).toMatchObject({ code: "CANCELLED" });
    expect(engine.status()).toMatchObject({ busy: false, residentBytes: 0 });
  });

  it("closes with a job running", async () => {
    const engine = await startEngine();
    const { outcome } = await startLongJob(engine);
    await engine.close();
    expect(await outcome).toMatchObject({ code: "CANCELLED" });
    await expect(engine.generate(createJob())).rejects.toMatchObject({ code: "CANCELLED" });
    expect(engine.status()).toMatchObject({ busy: false, residentBytes: 0 });
  });
});

describe("models in memory", () => {
  it("loads and unloads by name, waits for the running job, and gives the memory back", async () => {
    const engine = await startEngine();
    expect(engine.status()).toMatchObject({
      busy: false,
      modelsLoaded: [],
      backend: "cpu",
      gpu: null,
      residentBytes: 0,
    });
    const other = { name: "other:f32", path: join(folder, "other") };
    expect((await engine.load(createJob().model)).loadTimeMs).toBeGreaterThan(0);
    await engine.load(other);
    expect(engine.status().modelsLoaded).toEqual(["tiny:f32", "other:f32"]);
    expect(engine.status().residentBytes).toBeGreaterThan(30e6);

    const drawing = engine.generate(createJob({ steps: 20 }));
    expect(await engine.unload("other:f32")).toEqual(["other:f32"]);
    await drawing;
    expect(engine.status().modelsLoaded).toEqual(["tiny:f32"]);
    expect(await engine.unload("other:f32")).toEqual([]);
    expect(await engine.unload()).toEqual(["tiny:f32"]);
    expect(engine.status()).toMatchObject({ modelsLoaded: [], residentBytes: 0 });
    expect(await engine.unload()).toEqual([]);
  });

  it("keeps to the budget by dropping what was used longest ago, and refuses with figures what cannot fit", async () => {
    const tight = await startEngine({ memoryBudgetBytes: 90e6 });
    const expected = await (await startEngine()).generate(createJob());
    expect(digest((await tight.generate(createJob())).images)).toEqual(digest(expected.images));
    await expect(tight.generate(createJob({ width: 1024, height: 1024 }))).rejects.toMatchObject({
      code: "OUT_OF_MEMORY",
      message: expect.stringMatching(/needs about .* GiB .* budget is 0.08 GiB/),
    });
  });

  it("notices that a model's files have changed", async () => {
    const path = await writeTinyCheckpoint(join(folder, "changing"));
    const engine = await startEngine();
    const job = createJob({ model: { name: "changing", path } });
    const before = await engine.generate(job);
    await writeTinyCheckpoint(path, { seed: 3 });
    expect(digest((await engine.generate(job)).images)).not.toEqual(digest(before.images));
  });
});

describe("bad input", () => {
  it.each<[string, Partial<EngineJob>, string, RegExp]>([
    ["a missing model", { model: { name: "gone", path: "/nonexistent" } }, "INFERENCE_ERROR", /\/nonexistent/],
    ["an odd size", { width: 100 }, "VALIDATION_ERROR", /width = 100/],
    ["a mask without image", { mask: new Uint8Array(64 * 64) }, "VALIDATION_ERROR", /mask needs an image/],
    ["too many steps", { steps: 5000 }, "VALIDATION_ERROR", /steps = 5000/],
    [
      "a missing adapter",
      { adapters: [{ path: "/nonexistent.safetensors", scale: 1 }] },
      "VALIDATION_ERROR",
      /nonexistent/,
    ],
    ["an absurd weight", { prompt: "(cat:1000)" }, "VALIDATION_ERROR", /weight 1000/],
  ])("explains %s", async (_, changes, code, message) => {
    await expect(shared.generate(createJob(changes))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it("explains parts that do not belong together and bad scheduler settings", async () => {
    const path = join(folder, "tiny");
    const draw = (model: EngineJob["model"]) => shared.generate(createJob({ model }));
    await expect(draw({ name: "a", path, scheduler: { _class_name: "TCDScheduler" } })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("TCDScheduler"),
    });
    await expect(draw({ name: "b", path, scheduler: { beta_strat: 1 } })).rejects.toThrow("beta_strat");
    await expect(draw({ name: "c", path, clipSkip: 7 })).rejects.toThrow("clip skip 7");
    await expect(draw({ name: "d", path, vaePath: join(folder, "tiny/unet") })).rejects.toThrow("AutoencoderKL");
  });

  it("refuses a backend that does not run here, with the reason", async () => {
    await expect(createEngine({ backend: "cuda" })).rejects.toMatchObject({
      code: "INFERENCE_ERROR",
      message: expect.stringContaining("cuda backend does not work here"),
    });
  });
});
