/** The denoising loop, written out: from noise, or from a picture brought to a middle noise level, down to clean latents. */
import { drawNoise, NOISE_STREAMS } from "../random.js";
import type { Schedule } from "../schedulers/schedule.js";
import { blendLatents, joinChannels } from "./inpainting.js";
import type { Latents } from "./latents.js";
import type { NoisePredictor } from "./predict-noise.js";

export interface DenoiseRun {
  readonly schedule: Schedule;
  readonly predictor: NoisePredictor;
  /** shape of the latents */
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  readonly seed: number;
  /** index of the first step: 0 draws from noise alone */
  readonly firstStep: number;
  /** latents of the input picture, for image to image and inpainting */
  readonly imageLatents?: Float32Array | undefined;
  /** 1 where an ordinary UNet repaints; the rest is put back after every step */
  readonly maskCells?: Float32Array | undefined;
  /** what an inpainting UNet takes besides the latents */
  readonly extraChannels?: Float32Array | undefined;
  /** start from pure noise although there is a picture: inpainting at full strength forgets what was in the hole */
  readonly fromPureNoise: boolean;
  /** called after every step; throwing from it ends the run */
  readonly onStep?: ((step: StepReport) => void | Promise<void>) | undefined;
}

export interface StepReport {
  /** counts from 1 */
  readonly step: number;
  readonly total: number;
  /** the clean latents this step points at; worked out only when asked for */
  estimate(): Latents;
}

export async function denoise(run: DenoiseRun): Promise<Latents> {
  const { schedule, seed, firstStep, imageLatents, maskCells } = run;
  const shape = { channels: run.channels, height: run.height, width: run.width };
  const count = run.channels * run.height * run.width;
  const noise = drawNoise(seed, NOISE_STREAMS.latents, count);
  const total = schedule.timesteps.length - firstStep;

  let sample =
    imageLatents && !run.fromPureNoise
      ? schedule.addNoise(imageLatents, noise, firstStep)
      : noise.map((value) => value * schedule.initNoiseSigma);

  for (let step = firstStep; step < schedule.timesteps.length; step++) {
    const seen = schedule.scaleModelInput(sample, step);
    const input = joinChannels({ ...shape, data: seen }, run.extraChannels);
    const output = await run.predictor.predict(input, schedule.timesteps[step]!);
    const before = sample;
    sample = schedule.step(output, step, sample, () => drawNoise(seed, NOISE_STREAMS.firstStep + step, count));
    if (imageLatents && maskCells) {
      sample = blendLatents(sample, schedule.addNoise(imageLatents, noise, step + 1), maskCells);
    }
    const estimate = () => ({ ...shape, data: schedule.predictOriginal(output, step, before) });
    await run.onStep?.({ step: step - firstStep + 1, total, estimate });
  }
  if (!sample.every(Number.isFinite)) {
    throw new Error(
      "the model gave numbers that are none (NaN or infinite): its weights are damaged, or half precision overflowed",
    );
  }
  return { ...shape, data: sample };
}
