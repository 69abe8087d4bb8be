/** The training noise schedule: cumulative products of alpha from a config's betas. */
import { InvalidInputError } from "../invalid-input-error.js";
import {
  readBoolean,
  readChoice,
  readNumber,
  readNumbers,
  readTrainTimesteps,
  type SchedulerConfig,
} from "./scheduler-config.js";

/** Largest beta of the cosine schedule; 1 would make the last level singular. */
const MAX_COSINE_BETA = 0.999;

/** Stands for a terminal alpha of 0 where a finite sigma is needed; gives sigma 4096. */
const ZERO_SNR_ALPHA = 2 ** -24;

interface NoiseDefaults {
  readonly betaStart: number;
  readonly betaEnd: number;
  readonly betaSchedule: BetaSchedule;
}

type BetaSchedule = "linear" | "scaled_linear" | "squaredcos_cap_v2";

const DEFAULTS: NoiseDefaults = { betaStart: 0.0001, betaEnd: 0.02, betaSchedule: "linear" };

export interface NoiseLevels {
  readonly trainTimesteps: number;
  readonly alphasCumprod: Float64Array;
  readonly zeroTerminalSnr: boolean;
}

export function computeNoiseLevels(config: SchedulerConfig, defaults = DEFAULTS): NoiseLevels {
  const betas = readBetas(config, defaults);
  const zeroTerminalSnr = readBoolean(config, "rescale_betas_zero_snr", false);
  const alphasCumprod = new Float64Array(betas.length);
  let product = 1;
  for (const [i, beta] of betas.entries()) {
    product *= 1 - beta;
    alphasCumprod[i] = product;
  }
  if (zeroTerminalSnr) rescaleToZeroTerminalSnr(alphasCumprod);
  return { trainTimesteps: betas.length, alphasCumprod, zeroTerminalSnr };
}

/** Noise over signal at every training timestep, lowest first. */
export function computeTrainSigmas(levels: NoiseLevels): Float64Array {
  return levels.alphasCumprod.map((alpha, i) => {
    const safe = levels.zeroTerminalSnr && i === levels.trainTimesteps - 1 ? ZERO_SNR_ALPHA : alpha;
    return Math.sqrt((1 - safe) / safe);
  });
}

function readBetas(config: SchedulerConfig, defaults: NoiseDefaults): Float64Array {
  const trained = readNumbers(config, "trained_betas");
  if (trained) return checkBetas(Float64Array.from(trained), "trained_betas");
  const count = readTrainTimesteps(config);
  const start = readNumber(config, "beta_start", defaults.betaStart);
  const end = readNumber(config, "beta_end", defaults.betaEnd);
  const schedule = readChoice(config, "beta_schedule", defaults.betaSchedule, [
    "linear",
    "scaled_linear",
    "squaredcos_cap_v2",
  ]);
  const ramp = (from: number, to: number, i: number) => (count === 1 ? from : from + ((to - from) * i) / (count - 1));
  const betas = new Float64Array(count).map((_, i) => {
    if (schedule === "linear") return ramp(start, end, i);
    if (schedule === "scaled_linear") return ramp(Math.sqrt(start), Math.sqrt(end), i) ** 2;
    return Math.min(1 - cosineAlphaBar((i + 1) / count) / cosineAlphaBar(i / count), MAX_COSINE_BETA);
  });
  return checkBetas(betas, "beta_start and beta_end");
}

function checkBetas(betas: Float64Array, source: string): Float64Array {
  if (betas.length === 0 || !betas.every((beta) => beta >= 0 && beta <= 1)) {
    throw new InvalidInputError(`scheduler: ${source} must give betas between 0 and 1`);
  }
  return betas;
}

function cosineAlphaBar(t: number): number {
  return Math.cos((((t + 0.008) / 1.008) * Math.PI) / 2) ** 2;
}

/** Shifts and scales sqrt(alpha-bar) so that the last level is pure noise and the first stays as it was. */
function rescaleToZeroTerminalSnr(alphasCumprod: Float64Array): void {
  const first = Math.sqrt(alphasCumprod[0]!);
  const last = Math.sqrt(alphasCumprod.at(-1)!);
  for (const [i, alpha] of alphasCumprod.entries()) {
    alphasCumprod[i] = (((Math.sqrt(alpha) - last) * first) / (first - last)) ** 2;
  }
}
