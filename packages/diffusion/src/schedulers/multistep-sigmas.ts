/** What DPM-Solver++ and UniPC share: integer timesteps, sigmas with optional re-spacing, and the variance-preserving scaling of them. */
import { computeNoiseLevels, computeTrainSigmas, type NoiseLevels } from "./noise-levels.js";
import { combine } from "./schedule.js";
import {
  readBoolean,
  readChoice,
  readInteger,
  readNumber,
  refuseOptions,
  type SchedulerConfig,
} from "./scheduler-config.js";
import { findTimestepOfSigma, interpolateSigmas, spaceSigmasExponentially, spaceSigmasKarras } from "./sigmas.js";
import { roundHalfToEven, spaceTimesteps } from "./timestep-spacing.js";

export interface MultistepGrid {
  readonly timesteps: readonly number[];
  /** one more than timesteps: the last is where the run ends */
  readonly sigmas: readonly number[];
}

export interface SigmaPoint {
  readonly signal: number;
  readonly noise: number;
  readonly logSnr: number;
}

/** The differences between the two families' grids. */
export interface GridRules {
  /** UniPC always rounds Karras timesteps and ends re-spaced runs at their own last sigma */
  readonly family: "dpm" | "unipc";
}

export function createGridMaker(config: SchedulerConfig, rules: GridRules): (steps: number) => MultistepGrid {
  refuseOptions(config, ["thresholding", "use_beta_sigmas", "use_lu_lambdas", "use_flow_sigmas"]);
  const levels = computeNoiseLevels(config);
  const trainSigmas = computeTrainSigmas(levels);
  const spacing = readChoice(config, "timestep_spacing", "linspace", ["leading", "trailing", "linspace"]);
  const stepsOffset = readInteger(config, "steps_offset", 0, [0, levels.trainTimesteps]);
  const karras = readBoolean(config, "use_karras_sigmas", false);
  const respaced = karras || readBoolean(config, "use_exponential_sigmas", false);
  const roundsKarras = rules.family === "unipc" || config["beta_schedule"] !== "squaredcos_cap_v2";
  const endsAtZero = readChoice(config, "final_sigmas_type", "zero", ["zero", "sigma_min"]) === "zero";
  const lastTimestep = rules.family === "dpm" ? clipByLogSnr(config, levels, trainSigmas) : levels.trainTimesteps;

  return (steps) => {
    if (respaced) {
      const max = readNumber(config, "sigma_max", trainSigmas.at(-1)!);
      const min = readNumber(config, "sigma_min", trainSigmas[0]!);
      const sigmas = karras ? spaceSigmasKarras(max, min, steps) : spaceSigmasExponentially(max, min, steps);
      const exact = sigmas.map((sigma) => findTimestepOfSigma(sigma, trainSigmas));
      const timesteps = exact.map((t) => (karras && roundsKarras ? roundHalfToEven(t) : Math.trunc(t)));
      const end = rules.family === "unipc" ? sigmas.at(-1)! : trainSigmas[0]!;
      return { timesteps, sigmas: [...sigmas, endsAtZero ? 0 : end] };
    }
    const timesteps = spaceTimesteps({
      spacing,
      steps,
      trainTimesteps: lastTimestep,
      stepsOffset,
      dropLast: spacing !== "trailing",
      fractional: false,
    });
    return { timesteps, sigmas: [...interpolateSigmas(timesteps, trainSigmas), endsAtZero ? 0 : trainSigmas[0]!] };
  };
}

export function describeSigma(sigma: number): SigmaPoint {
  const signal = 1 / Math.sqrt(sigma * sigma + 1);
  const noise = sigma * signal;
  return { signal, noise, logSnr: Math.log(signal) - Math.log(noise) };
}

export function addNoiseAtSigma(original: Float32Array, noise: Float32Array, sigma: number): Float32Array {
  const point = describeSigma(sigma);
  return combine([point.signal, original], [point.noise, noise]);
}

/** Training timesteps whose log signal-to-noise ratio lies below the configured minimum are left out at the noisy end. */
function clipByLogSnr(config: SchedulerConfig, levels: NoiseLevels, trainSigmas: Float64Array): number {
  const minimum = readNumber(config, "lambda_min_clipped", Number.NEGATIVE_INFINITY);
  let clipped = 0;
  while (
    clipped < levels.trainTimesteps - 1 &&
    -Math.log(trainSigmas[levels.trainTimesteps - 1 - clipped]!) < minimum
  ) {
    clipped++;
  }
  return levels.trainTimesteps - clipped;
}
