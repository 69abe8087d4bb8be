/** DDIM without added noise (eta 0). */
import { computeNoiseLevels, type NoiseLevels } from "./noise-levels.js";
import { toEpsilon, toOriginal } from "./predict.js";
import { clampValues, combine, type Schedule, type Scheduler } from "./schedule.js";
import {
  readBoolean,
  readChoice,
  readInteger,
  readNumber,
  readPredictionType,
  refuseOptions,
  type SchedulerConfig,
} from "./scheduler-config.js";
import { spaceTimesteps } from "./timestep-spacing.js";

export function createDdim(config: SchedulerConfig): Scheduler {
  refuseOptions(config, ["thresholding"]);
  const levels = computeNoiseLevels(config);
  const prediction = readPredictionType(config);
  const spacing = readChoice(config, "timestep_spacing", "leading", ["leading", "trailing", "linspace"]);
  const stepsOffset = readInteger(config, "steps_offset", 0, [0, levels.trainTimesteps]);
  const finalAlpha = readBoolean(config, "set_alpha_to_one", true) ? 1 : levels.alphasCumprod[0]!;
  const clipRange = readBoolean(config, "clip_sample", true) ? readNumber(config, "clip_sample_range", 1) : null;

  const createSchedule = (steps: number): Schedule => {
    const timesteps = spaceTimesteps({
      spacing,
      steps,
      trainTimesteps: levels.trainTimesteps,
      stepsOffset,
      dropLast: false,
      fractional: false,
    });
    const gap = Math.floor(levels.trainTimesteps / steps);
    const alphaOf = (timestep: number) => readAlpha(levels, timestep, finalAlpha);
    const predictOriginal = (output: Float32Array, step: number, sample: Float32Array) => {
      const alpha = alphaOf(timesteps[step]!);
      const original = toOriginal(prediction, output, sample, Math.sqrt(alpha), Math.sqrt(1 - alpha));
      return clipRange === null ? original : clampValues(original, clipRange);
    };
    return {
      timesteps,
      initNoiseSigma: 1,
      scaleModelInput: (sample) => sample,
      predictOriginal,
      step(output, step, sample) {
        const alpha = alphaOf(timesteps[step]!);
        const previous = alphaOf(timesteps[step]! - gap);
        const epsilon = toEpsilon(prediction, output, sample, Math.sqrt(alpha), Math.sqrt(1 - alpha));
        const original = predictOriginal(output, step, sample);
        return combine([Math.sqrt(previous), original], [Math.sqrt(1 - previous), epsilon]);
      },
      addNoise(original, noise, step) {
        if (step >= timesteps.length) return original;
        const alpha = alphaOf(timesteps[step]!);
        return combine([Math.sqrt(alpha), original], [Math.sqrt(1 - alpha), noise]);
      },
    };
  };
  return { className: "DDIMScheduler", createSchedule };
}

/** Below the first timestep stands the final alpha; a leading offset may point past the last one, which is then used. */
function readAlpha(levels: NoiseLevels, timestep: number, finalAlpha: number): number {
  if (timestep < 0) return finalAlpha;
  return levels.alphasCumprod[Math.min(timestep, levels.trainTimesteps - 1)]!;
}
