/** Checkpoints in one file and autoencoders in their original names, drawn by the real engine process: the pictures are those of the folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  writeOriginalAutoencoder,
  writeSingleFile,
  writeTinyAutoencoder,
  writeTinyCheckpoint,
} from "@kit/diffusion/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, EngineJob, ModelFiles, Pixels } from "./engine-api.js";
import { createEngine } from "./engine-host.js";

let folder: string;
let engine: Engine;
let model: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "single-files-"));
  // what a file says nothing about is taken as the published models have it
  const scheduler = { _class_name: "EulerDiscreteScheduler" };
  model = await writeTinyCheckpoint(join(folder, "model"), { published: true, dtype: "F16", scheduler });
  engine = await createEngine({ backend: "cpu", threads: 1, scratchFolder: folder });
});
afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

async function draw(files: Omit<ModelFiles, "name">, changes: Partial<EngineJob> = {}): Promise<Pixels> {
  const { images } = await engine.generate({
    model: { name: JSON.stringify(files), ...files },
    prompt: "a cat",
    negativePrompt: "a dog",
    width: 64,
    height: 96,
    steps: 4,
    guidance: 3,
    seed: 5,
    batch: 1,
    adapters: [],
    preview: false,
    ...changes,
  });
  return images[0]!;
}

/** Largest and mean difference in levels of 255. */
function compare(found: Pixels, wanted: Pixels): { largest: number; mean: number } {
  expect([found.width, found.height]).toEqual([wanted.width, wanted.height]);
  const apart = Array.from(found.rgb, (value, i) => Math.abs(value - wanted.rgb[i]!));
  return { largest: Math.max(...apart), mean: apart.reduce((sum, value) => sum + value, 0) / apart.length };
}

describe("a checkpoint in one file", () => {
  it.each(["model.safetensors", "model.gguf"])("draws what its folder draws: %s", async (name) => {
    // the tokenizer lies beside it
    const path = await writeSingleFile(model, join(model, name));
    const wanted = await draw({ path: model });
    expect(new Set(wanted.rgb).size).toBeGreaterThan(50);
    expect(compare(await draw({ path }), wanted).largest).toBeLessThanOrEqual(1);
  });

  it("draws nearly that from quantised matrices", async () => {
    const path = await writeSingleFile(model, join(model, "model-q8_0.gguf"), true);
    const { mean } = compare(await draw({ path }), await draw({ path: model }));
    expect(mean).toBeGreaterThan(0);
    expect(mean).toBeLessThan(3);
  });
});

describe("TAESD in its original names", () => {
  it("decodes and encodes as AutoencoderTiny does", async () => {
    const tiny = await writeTinyAutoencoder(join(folder, "tiny-vae"));
    const original = await writeOriginalAutoencoder(tiny, folder);
    const plain = await draw({ path: model });
    const wanted = await draw({ path: model, vaePath: tiny });
    expect(compare(wanted, plain).mean).toBeGreaterThan(5);
    expect(compare(await draw({ path: model, vaePath: original }), wanted).largest).toBeLessThanOrEqual(1);
    const again = { image: plain, strength: 0.5 };
    const repainted = await draw({ path: model, vaePath: tiny }, again);
    expect(compare(await draw({ path: model, vaePath: original }, again), repainted).largest).toBeLessThanOrEqual(1);
  });

  it("is read from one file in diffusers' names as well, and an encoder alone is refused with the remedy", async () => {
    const tiny = await writeTinyAutoencoder(join(folder, "named-vae"));
    const wanted = await draw({ path: model, vaePath: tiny });
    const vaePath = join(tiny, "diffusion_pytorch_model.safetensors");
    expect(compare(await draw({ path: model, vaePath }), wanted).largest).toBeLessThanOrEqual(1);
    const alone = join(folder, "alone");
    await rm(await writeOriginalAutoencoder(tiny, alone));
    await expect(draw({ path: model, vaePath: join(alone, "taesd_encoder.safetensors") })).rejects.toThrow(
      /taesd_encoder\.safetensors.*TAESD's encoder only; put taesd_decoder\.safetensors beside it/,
    );
  });
});
