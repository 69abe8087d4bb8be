/** Whole pictures against diffusers' on the same tiny checkpoints, noise included: every pipeline, both LoRA conventions. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNoisePredictor, drawNoise, encodePrompts, type Pixels } from "@kit/diffusion";
import { writeTinyAdapter, writeTinyAutoencoder, writeTinyCheckpoint } from "@kit/diffusion/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createComponentStore } from "./component-store.js";
import type { EngineJob } from "./engine-api.js";
import { createEngineWorker, type EngineWorker } from "./engine-worker.js";
import { openModel } from "./opened-model.js";
import { createPipelineModel } from "./pipeline-model.js";

interface Picture {
  readonly name: string;
  readonly kind: "sd1" | "sdxl" | "inpaint" | "lcm";
  readonly scheduler: string | null;
  readonly adapters: readonly (readonly [string, number])[];
  readonly vae: string | null;
  readonly request: {
    readonly prompt: string;
    readonly negative_prompt?: string;
    readonly num_inference_steps: number;
    readonly guidance_scale: number;
    readonly image?: true;
    readonly mask?: true;
    readonly strength?: number;
  };
  readonly rgb: string;
}

const SIZE = 64;
const fixture = new URL("../../../../packages/diffusion/fixtures/pipelines/pictures.json", import.meta.url);
const pictures = JSON.parse(await readFile(fixture, "utf8")) as Picture[];

/** The picture record.py gives to diffusers. */
function drawInput(): Pixels {
  const rgb = new Uint8Array(SIZE * SIZE * 3);
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) rgb.set([x * 4, y * 4, Math.min(255, (x + y) * 2)], (y * SIZE + x) * 3);
  }
  return { width: SIZE, height: SIZE, rgb };
}

function drawMask(): Uint8Array {
  const mask = new Uint8Array(SIZE * SIZE);
  for (let y = 16; y < 48; y++) mask.fill(255, y * SIZE + 24, y * SIZE + 56);
  return mask;
}

describe("pictures equal diffusers'", () => {
  let folder: string;
  let worker: EngineWorker;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pictures-"));
    for (const kind of ["sd1", "sdxl", "inpaint", "lcm"] as const)
      await writeTinyCheckpoint(join(folder, kind), { kind });
    await writeTinyAutoencoder(join(folder, "tiny-vae"));
    await writeTinyAdapter(join(folder, "peft.safetensors"), { rank: 2 });
    await writeTinyAdapter(join(folder, "kohya.safetensors"), { naming: "kohya", seed: 2, rank: 4, alpha: 2 });
    const settings = { backend: "cpu", threads: 1, memoryBudgetBytes: 2 ** 32, scratchFolder: folder } as const;
    worker = createEngineWorker({ ...settings, tokenizerFolder: undefined }, () => undefined);
  });
  afterAll(async () => {
    await worker.unload(undefined);
    await rm(folder, { recursive: true, force: true });
  });

  it.each(pictures.map((picture) => [picture.name, picture] as const))("%s", async (_, picture) => {
    const { request } = picture;
    const job: EngineJob = {
      model: {
        name: picture.name,
        path: join(folder, picture.kind),
        ...(picture.vae ? { vaePath: join(folder, picture.vae) } : {}),
        ...(picture.scheduler ? { scheduler: { _class_name: picture.scheduler } } : {}),
      },
      prompt: request.prompt,
      negativePrompt: request.negative_prompt ?? "",
      width: SIZE,
      height: SIZE,
      steps: request.num_inference_steps,
      guidance: request.guidance_scale,
      seed: 5,
      batch: 1,
      adapters: picture.adapters.map(([file, scale]) => ({ path: join(folder, file), scale })),
      preview: false,
      ...(request.image ? { image: drawInput(), strength: request.strength! } : {}),
      ...(request.mask ? { mask: drawMask() } : {}),
    };
    const { images } = await worker.generate(job, { report: () => undefined, isCancelled: () => false });
    const expected = Buffer.from(picture.rgb, "base64");
    // diffusers leaves kept pixels to the VAE; ours are the input's, so only the hole can be compared
    const compared = request.mask ? drawMask() : undefined;
    let worst = 0;
    let sum = 0;
    for (const [i, value] of images[0]!.rgb.entries()) {
      if (compared && compared[Math.floor(i / 3)] === 0) continue;
      worst = Math.max(worst, Math.abs(value - expected[i]!));
      sum += Math.abs(value - expected[i]!);
    }
    expect(worst).toBeLessThanOrEqual(2);
    expect(sum / expected.length).toBeLessThan(0.05);
  });
});

it("sizes that do not halve evenly down to the middle of the net are drawn too, and are no other pictures", async () => {
  const folder = await mkdtemp(join(tmpdir(), "odd-"));
  const settings = { backend: "cpu", threads: 1, memoryBudgetBytes: 2 ** 32, scratchFolder: folder } as const;
  const worker = createEngineWorker({ ...settings, tokenizerFolder: undefined }, () => undefined);
  const path = await writeTinyCheckpoint(folder, { kind: "sd1" });
  const draw = async (width: number, height: number) => {
    const job: EngineJob = {
      model: { name: "odd", path },
      prompt: "a cat",
      negativePrompt: "",
      width,
      height,
      steps: 2,
      guidance: 1,
      seed: 5,
      batch: 1,
      adapters: [],
      preview: false,
    };
    const { images } = await worker.generate(job, { report: () => undefined, isCancelled: () => false });
    return images[0]!;
  };
  const even = await draw(64, 64);
  const odd = await draw(72, 88);
  expect([odd.width, odd.height]).toEqual([72, 88]);
  expect(new Set(odd.rgb).size).toBeGreaterThan(10);
  // the net for odd sizes does not take the place of the other
  expect((await draw(64, 64)).rgb).toEqual(even.rgb);
  await worker.unload(undefined);
  await rm(folder, { recursive: true, force: true });
});

describe("guidance in one batched call", () => {
  it.each(["sd1", "sdxl"] as const)("predicts what two calls predict (%s)", async (kind) => {
    const folder = await mkdtemp(join(tmpdir(), "batched-"));
    const store = createComponentStore(2 ** 32, () => undefined);
    const opened = await openModel({ name: kind, path: await writeTinyCheckpoint(folder, { kind }) }, undefined);
    const { pipeline } = await createPipelineModel(opened, [], kind, {
      settings: {
        backend: "cpu",
        threads: 1,
        memoryBudgetBytes: 2 ** 32,
        scratchFolder: folder,
        tokenizerFolder: undefined,
      },
      store,
      multiply: () => Promise.reject(new Error("no adapters here")),
      area: SIZE * SIZE,
      sidesAreMultiplesOf: (pixels) => SIZE % pixels === 0,
      report: () => undefined,
    });
    const prompts = await encodePrompts(pipeline, "a cat", "a dog", true);
    const options = { ...prompts, guidance: 4, width: SIZE, height: SIZE };
    const latents = { channels: 4, width: 8, height: 8, data: drawNoise(1, 0, 256) };
    const [one, two] = await Promise.all(
      [true, false].map((batchGuidance) =>
        createNoisePredictor(pipeline, { ...options, batchGuidance }).predict(latents, 501),
      ),
    );
    for (const [i, value] of one!.entries()) expect(value).toBeCloseTo(two![i]!, 4);
    await store.drop();
    await rm(folder, { recursive: true, force: true });
  });
});
