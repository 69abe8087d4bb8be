/** Euler's method on the probability-flow equation in sigma space; also what SD/SDXL Turbo and Lightning use (trailing spacing). */
import { computeNoiseLevels, computeTrainSigmas } from "./noise-levels.js";
import { combine, type Schedule, type Scheduler } from "./schedule.js";
import {
  type PredictionType,
  readBoolean,
  readChoice,
  readInteger,
  readNumber,
  readPredictionType,
  refuseOptions,
  type SchedulerConfig,
} from "./scheduler-config.js";
import { findTimestepOfSigma, interpolateSigmas, spaceSigmasExponentially, spaceSigmasKarras } from "./sigmas.js";
import { spaceTimesteps } from "./timestep-spacing.js";

export function createEuler(config: SchedulerConfig): Scheduler {
  refuseOptions(config, ["use_beta_sigmas"]);
  readChoice(config, "interpolation_type", "linear", ["linear"]);
  readChoice(config, "timestep_type", "discrete", ["discrete"]);
  const karras = readBoolean(config, "use_karras_sigmas", false);
  const exponential = readBoolean(config, "use_exponential_sigmas", false);
  const finalSigma = readChoice(config, "final_sigmas_type", "zero", ["zero", "sigma_min"]);
  const prediction = readPredictionType(config);
  const trainSigmas = computeTrainSigmas(computeNoiseLevels(config));

  const createSchedule = (steps: number): Schedule => {
    const spaced = spaceForEuler(config, steps, trainSigmas);
    let { timesteps, sigmas } = spaced;
    if (karras || exponential) {
      const max = readNumber(config, "sigma_max", sigmas[0]!);
      const min = readNumber(config, "sigma_min", sigmas.at(-1)!);
      sigmas = karras ? spaceSigmasKarras(max, min, steps) : spaceSigmasExponentially(max, min, steps);
      timesteps = sigmas.map((sigma) => Math.fround(findTimestepOfSigma(sigma, trainSigmas)));
    }
    sigmas = [...sigmas, finalSigma === "zero" ? 0 : trainSigmas[0]!];
    return {
      ...createSigmaSpace(timesteps, sigmas, spaced.startsAtFullNoise, prediction),
      step(output, step, sample) {
        const [sigma, next] = [sigmas[step]!, sigmas[step + 1]!];
        const original = predictFromSigma(prediction, output, sample, sigma);
        return combine([next / sigma, sample], [1 - next / sigma, original]);
      },
    };
  };
  return { className: "EulerDiscreteScheduler", createSchedule };
}

interface SpacedSigmas {
  readonly timesteps: number[];
  readonly sigmas: number[];
  /** leading spacing starts below full noise, so its start is scaled to include the signal's share */
  readonly startsAtFullNoise: boolean;
}

export function spaceForEuler(config: SchedulerConfig, steps: number, trainSigmas: Float64Array): SpacedSigmas {
  const spacing = readChoice(config, "timestep_spacing", "linspace", ["leading", "trailing", "linspace"]);
  const timesteps = spaceTimesteps({
    spacing,
    steps,
    trainTimesteps: trainSigmas.length,
    stepsOffset: readInteger(config, "steps_offset", 0, [0, trainSigmas.length]),
    dropLast: false,
    fractional: true,
  });
  return { timesteps, sigmas: interpolateSigmas(timesteps, trainSigmas), startsAtFullNoise: spacing !== "leading" };
}

/** What both Euler methods share: latents are clean + sigma * noise, and the model sees them scaled to unit variance. */
export function createSigmaSpace(
  timesteps: readonly number[],
  sigmas: readonly number[],
  startsAtFullNoise: boolean,
  prediction: PredictionType,
): Omit<Schedule, "step"> {
  const maxSigma = Math.max(...sigmas);
  return {
    timesteps,
    initNoiseSigma: startsAtFullNoise ? maxSigma : Math.hypot(maxSigma, 1),
    scaleModelInput: (sample, step) => combine([1 / Math.hypot(sigmas[step]!, 1), sample]),
    predictOriginal: (output, step, sample) => predictFromSigma(prediction, output, sample, sigmas[step]!),
    addNoise: (original, noise, step) => combine([1, original], [sigmas[step]!, noise]),
  };
}

export function predictFromSigma(
  prediction: PredictionType,
  output: Float32Array,
  sample: Float32Array,
  sigma: number,
): Float32Array {
  if (prediction === "sample") return output;
  if (prediction === "epsilon") return combine([1, sample], [-sigma, output]);
  return combine([1 / (sigma * sigma + 1), sample], [-sigma / Math.hypot(sigma, 1), output]);
}
