/** A model that brings its own upscaler: read from its folder, run on pictures drawn smaller than asked for. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildUpscaler, openUpscaler } from "@kit/diffusion";
import { writeTinyCheckpoint } from "@kit/diffusion/testing";
import { tensorFromFloats, writeSafetensors } from "@kit/tensor-files";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { EngineProgress } from "./engine-api.js";
import { createEngineWorker } from "./engine-worker.js";
import { createRuntimeSession } from "./runtime-session.js";

let folder: string;
beforeAll(async () => {
  folder = await writeTinyCheckpoint(await mkdtemp(join(tmpdir(), "upscaler-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A net whose every weight is zero but the last bias: each sub-pixel gets its own offset, so their order shows. */
async function writeUpscaler(offsets: readonly number[], changes: Record<string, unknown> = {}): Promise<void> {
  const config = {
    _class_name: "DoodleUpscaler",
    scale: 2,
    in_channels: 3,
    channels: 4,
    layers: 2,
    activation: "relu",
  };
  await mkdir(join(folder, "upscaler"), { recursive: true });
  await writeFile(join(folder, "upscaler/config.json"), JSON.stringify({ ...config, ...changes }));
  const zeros = (name: string, shape: readonly number[]) =>
    tensorFromFloats(name, shape, new Float32Array(shape.reduce((product, size) => product * size, 1)));
  await writeSafetensors(join(folder, "upscaler/model.safetensors"), [
    zeros("conv_in.weight", [4, 3, 3, 3]),
    zeros("conv_in.bias", [4]),
    ...[0, 1].flatMap((layer) => [zeros(`body.${layer}.weight`, [4, 4, 3, 3]), zeros(`body.${layer}.bias`, [4])]),
    zeros("conv_out.weight", [12, 4, 3, 3]),
    tensorFromFloats("conv_out.bias", [12], Float32Array.from(offsets)),
  ]);
}

it("puts every sub-pixel in its place", async () => {
  const offsets = Array.from({ length: 12 }, (_, i) => i / 100);
  await writeUpscaler(offsets);
  const upscaler = (await openUpscaler(folder))!;
  const options = { target: "cpu", compute: "fp32", weights: "fold" } as const;
  const session = await createRuntimeSession(buildUpscaler(upscaler.config, upscaler.source, options), options, 1);
  const data = Float32Array.from({ length: 3 * 2 * 2 }, (_, i) => i / 20);
  const { enlarged } = await session.run({ sample: { type: "float32", dims: [1, 3, 2, 2], data } });
  await session.release();
  expect(enlarged!.dims).toEqual([1, 3, 4, 4]);
  for (let colour = 0; colour < 3; colour++) {
    for (let y = 0; y < 4; y++) {
      for (let x = 0; x < 4; x++) {
        const pixel = data[(colour * 2 + (y >> 1)) * 2 + (x >> 1)]!;
        const offset = offsets[colour * 4 + (y % 2) * 2 + (x % 2)]!;
        expect(enlarged!.data[(colour * 4 + y) * 4 + x]).toBeCloseTo(pixel + offset, 5);
      }
    }
  }
});

it("is used for requests beyond the native size, and refused with a reason when its config is odd", async () => {
  await writeUpscaler(Array(12).fill(0));
  const settings = { backend: "cpu", threads: 1, memoryBudgetBytes: 2 ** 32, scratchFolder: folder } as const;
  const worker = createEngineWorker({ ...settings, tokenizerFolder: undefined }, () => undefined);
  const stages: string[] = [];
  const report = (progress: EngineProgress) => {
    if (progress.type === "stage_start") stages.push(progress.name);
  };
  const job = {
    model: { name: "small", path: folder, nativeArea: 64 * 64 },
    prompt: "a cat",
    negativePrompt: "",
    width: 128,
    height: 128,
    steps: 2,
    guidance: 1,
    seed: 1,
    batch: 1,
    adapters: [],
    preview: false,
  };
  const call = { report, isCancelled: () => false };
  const large = (await worker.generate(job, call)).images[0]!;
  expect(stages.slice(-2)).toEqual(["enlarging", "loading upscaler"]);
  // a net of zeros enlarges by nearest neighbour: every 2x2 pixels are one of the small picture's
  const small = (await worker.generate({ ...job, width: 64, height: 64 }, call)).images[0]!;
  for (let y = 0; y < 128; y++) {
    for (let x = 0; x < 128; x++) {
      const drawn = small.rgb[((y >> 1) * 64 + (x >> 1)) * 3]!;
      expect(large.rgb[(y * 128 + x) * 3]).toBe(drawn);
    }
  }
  await worker.unload(undefined);
  await writeUpscaler(Array(12).fill(0), { layers: 3 });
  await expect(worker.generate(job, call)).rejects.toThrow("'layers' is 3");
});
