/**
 * The trained model against the numbers PyTorch computed with it: tokens, text states, ten DDIM steps, picture.
 * Runs where a trained checkpoint with its golden.safetensors lies; the tiny checkpoints are compared in pictures.test.ts everywhere.
 */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import {
  chunkPrompt,
  createNoisePredictor,
  type DiffusionModel,
  decodeLatents,
  encodePixels,
  encodePrompts,
} from "@kit/diffusion";
import { openSafetensors, readTensorFloats } from "@kit/tensor-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createComponentStore } from "./component-store.js";
import { openModel } from "./opened-model.js";
import { createPipelineModel } from "./pipeline-model.js";

const folder = ["../../../../models/doodle", "../../../../../shared/embedded-model/first-run"]
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(`${path}/golden.safetensors`));
if (!folder) console.log("golden-model.test: skipped, no trained checkpoint with golden.safetensors here");

/** Relative to the largest value: what F32 arithmetic in another order may differ by, over ten steps with guidance. */
const TOLERANCE = 2e-3;

describe.skipIf(!folder)("the trained model gives PyTorch's numbers", () => {
  const store = createComponentStore(2 ** 33, () => undefined);
  const golden = new Map<string, Float32Array>();
  let prompt = "";
  let guidance = 0;
  let model: DiffusionModel;
  let side = 0;

  beforeAll(async () => {
    const file = await openSafetensors(`${folder}/golden.safetensors`);
    for (const name of file.names()) golden.set(name, readTensorFloats(file.get(name)!));
    side = file.get("latents")!.shape[3]!;
    prompt = file.metadata.get("prompt")!;
    guidance = Number(file.metadata.get("guidance"));
    const settings = { backend: "cpu", threads: 2, memoryBudgetBytes: 2 ** 33, scratchFolder: tmpdir() } as const;
    const opened = await openModel({ name: "golden", path: folder! }, undefined);
    const prepared = await createPipelineModel(opened, [], "golden", {
      settings: { ...settings, tokenizerFolder: undefined },
      store,
      multiply: () => Promise.reject(new Error("no adapters here")),
      area: (side * 8) ** 2,
      sidesAreMultiplesOf: (pixels) => (side * 8) % pixels === 0,
      report: () => undefined,
    });
    model = prepared.pipeline;
  });
  afterAll(() => store.drop());

  const expectClose = (actual: Float32Array, expected: Float32Array) => {
    const scale = expected.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
    const worst = actual.reduce((largest, value, i) => Math.max(largest, Math.abs(value - expected[i]!)), 0);
    expect(actual.length).toBe(expected.length);
    expect(worst / scale).toBeLessThan(TOLERANCE);
  };

  it("tokens and text states", async () => {
    const { tokenizer } = model.textEncoders[0]!;
    const ids = golden.get("input_ids")!;
    expect([...chunkPrompt(prompt, tokenizer).chunks[0]!.ids]).toEqual([...ids.slice(0, 77)]);
    const { positive, negative } = await encodePrompts(model, prompt, "", true);
    const states = golden.get("text_embeds")!;
    expectClose(positive.hidden.data, states.slice(0, states.length / 2));
    expectClose(negative!.hidden.data, states.slice(states.length / 2));
  });

  it("ten steps, the picture, and the way back", async () => {
    const prompts = await encodePrompts(model, prompt, "", true);
    const options = { ...prompts, guidance, width: side * 8, height: side * 8, batchGuidance: false };
    const predictor = createNoisePredictor(model, options);
    const schedule = model.scheduler.createSchedule(10);
    const shape = { channels: model.vae.latentChannels, width: side, height: side };
    let sample = golden.get("latents")!;
    for (const [step, timestep] of schedule.timesteps.entries()) {
      const output = await predictor.predict({ ...shape, data: sample }, timestep);
      sample = schedule.step(output, step, sample, () => new Float32Array());
    }
    expectClose(sample, golden.get("ddim10_latents")!);

    const picture = await decodeLatents(model.vae, { ...shape, data: sample });
    const planes = golden.get("ddim10_image")!;
    const area = picture.width * picture.height;
    for (const [i, value] of picture.rgb.entries()) {
      const wanted = Math.min(255, Math.max(0, (planes[(i % 3) * area + Math.floor(i / 3)]! + 1) * 127.5));
      expect(Math.abs(value - wanted)).toBeLessThan(2);
    }
    const back = await encodePixels(model.vae, picture);
    const unscaled = back.data.map((value) => value / model.vae.scalingFactor);
    const mean = golden.get("vae_mean")!;
    // the picture was rounded to 8 bits on the way
    const worst = unscaled.reduce((largest, value, i) => Math.max(largest, Math.abs(value - mean[i]!)), 0);
    expect(worst).toBeLessThan(0.1);
  });
});
