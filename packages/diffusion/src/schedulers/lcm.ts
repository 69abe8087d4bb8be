/** Latent consistency sampling: every step jumps to clean latents and adds fresh noise of the next level. */
import { InvalidInputError } from "../invalid-input-error.js";
import { computeNoiseLevels } from "./noise-levels.js";
import { toOriginal } from "./predict.js";
import { clampValues, combine, type Schedule, type Scheduler } from "./schedule.js";
import {
  readBoolean,
  readInteger,
  readNumber,
  readPredictionType,
  refuseOptions,
  type SchedulerConfig,
} from "./scheduler-config.js";

/** Variance of the data in the boundary condition of consistency models. */
const SIGMA_DATA = 0.5;

export function createLcm(config: SchedulerConfig): Scheduler {
  refuseOptions(config, ["thresholding"]);
  const levels = computeNoiseLevels(config, { betaStart: 0.00085, betaEnd: 0.012, betaSchedule: "scaled_linear" });
  const prediction = readPredictionType(config);
  const distilledSteps = readInteger(config, "original_inference_steps", 50, [1, levels.trainTimesteps]);
  const scaling = readNumber(config, "timestep_scaling", 10);
  const clipRange = readBoolean(config, "clip_sample", false) ? readNumber(config, "clip_sample_range", 1) : null;

  const createSchedule = (steps: number): Schedule => {
    const timesteps = spaceLcmTimesteps(steps, distilledSteps, levels.trainTimesteps);
    const alphaOf = (step: number) => levels.alphasCumprod[timesteps[step]!]!;
    const predictOriginal = (output: Float32Array, step: number, sample: Float32Array) => {
      const alpha = alphaOf(step);
      const original = toOriginal(prediction, output, sample, Math.sqrt(alpha), Math.sqrt(1 - alpha));
      return clipRange === null ? original : clampValues(original, clipRange);
    };
    return {
      timesteps,
      initNoiseSigma: 1,
      scaleModelInput: (sample) => sample,
      predictOriginal,
      step(output, step, sample, drawNoise) {
        const scaled = timesteps[step]! * scaling;
        const skip = SIGMA_DATA ** 2 / (scaled ** 2 + SIGMA_DATA ** 2);
        const out = scaled / Math.sqrt(scaled ** 2 + SIGMA_DATA ** 2);
        const denoised = combine([out, predictOriginal(output, step, sample)], [skip, sample]);
        if (step === timesteps.length - 1) return denoised;
        const next = alphaOf(step + 1);
        return combine([Math.sqrt(next), denoised], [Math.sqrt(1 - next), drawNoise()]);
      },
      addNoise(original, noise, step) {
        if (step >= timesteps.length) return original;
        const alpha = alphaOf(step);
        return combine([Math.sqrt(alpha), original], [Math.sqrt(1 - alpha), noise]);
      },
    };
  };
  return { className: "LCMScheduler", createSchedule };
}

/** An even choice among the timesteps the model was distilled on. */
function spaceLcmTimesteps(steps: number, distilledSteps: number, trainTimesteps: number): number[] {
  if (!Number.isInteger(steps) || steps < 1 || steps > distilledSteps) {
    throw new InvalidInputError(
      `steps = ${steps}: this model was distilled on ${distilledSteps}; use 1 to ${distilledSteps}`,
    );
  }
  const gap = Math.floor(trainTimesteps / distilledSteps);
  return Array.from({ length: steps }, (_, i) => {
    const index = Math.floor((i * distilledSteps) / steps);
    return (distilledSteps - index) * gap - 1;
  });
}
