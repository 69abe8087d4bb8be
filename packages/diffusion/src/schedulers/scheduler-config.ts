import { InvalidInputError } from "../invalid-input-error.js";

/** scheduler_config.json after parsing: diffusers' own field names. */
export type SchedulerConfig = Readonly<Record<string, unknown>>;

export type PredictionType = "epsilon" | "v_prediction" | "sample";
export type TimestepSpacing = "leading" | "trailing" | "linspace";

/** Every field some scheduler reads. Files may carry others (diffusers writes leftovers); overrides may not. */
const KNOWN_FIELDS = new Set([
  "_class_name",
  "num_train_timesteps",
  "beta_start",
  "beta_end",
  "beta_schedule",
  "trained_betas",
  "prediction_type",
  "timestep_spacing",
  "steps_offset",
  "rescale_betas_zero_snr",
  "set_alpha_to_one",
  "clip_sample",
  "clip_sample_range",
  "thresholding",
  "use_karras_sigmas",
  "use_exponential_sigmas",
  "use_beta_sigmas",
  "use_lu_lambdas",
  "use_flow_sigmas",
  "final_sigmas_type",
  "sigma_min",
  "sigma_max",
  "interpolation_type",
  "timestep_type",
  "solver_order",
  "solver_type",
  "algorithm_type",
  "lower_order_final",
  "euler_at_final",
  "lambda_min_clipped",
  "variance_type",
  "predict_x0",
  "disable_corrector",
  "solver_p",
  "original_inference_steps",
  "timestep_scaling",
]);

/** Largest plausible training length; a larger one would only be a broken or hostile file. */
const MAX_TRAIN_TIMESTEPS = 100_000;

/** The file's config with a caller's changes; a change of a field that no scheduler reads is a mistake and is refused. */
export function overrideSchedulerConfig(config: SchedulerConfig, overrides: SchedulerConfig): SchedulerConfig {
  for (const field of Object.keys(overrides)) {
    if (!KNOWN_FIELDS.has(field)) throw new InvalidInputError(`scheduler: unknown field "${field}"`);
  }
  return { ...config, ...overrides };
}

export function readNumber(config: SchedulerConfig, field: string, fallback: number): number {
  const value = config[field];
  if (value === undefined || value === null) return fallback;
  // how Python's infinities arrive here
  const number = typeof value === "string" && /^(-?Infinity|NaN)$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || Number.isNaN(number)) throw wrongValue(field, value, "a number");
  return number;
}

export function readInteger(
  config: SchedulerConfig,
  field: string,
  fallback: number,
  range: readonly [number, number],
): number {
  const value = readNumber(config, field, fallback);
  if (!Number.isInteger(value) || value < range[0] || value > range[1]) {
    throw wrongValue(field, value, `an integer from ${range[0]} to ${range[1]}`);
  }
  return value;
}

export function readBoolean(config: SchedulerConfig, field: string, fallback: boolean): boolean {
  const value = config[field] ?? fallback;
  if (typeof value !== "boolean") throw wrongValue(field, value, "true or false");
  return value;
}

export function readChoice<T extends string>(
  config: SchedulerConfig,
  field: string,
  fallback: T,
  choices: readonly T[],
): T {
  const value = config[field] ?? fallback;
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw wrongValue(field, value, `one of ${choices.join(", ")}`);
  return choice;
}

export function readNumbers(config: SchedulerConfig, field: string): readonly number[] | null {
  const value = config[field];
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value) || !value.every((entry): entry is number => typeof entry === "number")) {
    throw wrongValue(field, value, "a list of numbers");
  }
  return value;
}

/** Options of diffusers that no latent model we run uses; on, they would change the result, so they are refused. */
export function refuseOptions(config: SchedulerConfig, fields: readonly string[]): void {
  for (const field of fields) {
    const value = config[field];
    if (value !== undefined && value !== null && value !== false) {
      throw new InvalidInputError(`scheduler: ${field} = ${JSON.stringify(value)} is not supported; leave it out`);
    }
  }
}

export function readPredictionType(config: SchedulerConfig): PredictionType {
  return readChoice(config, "prediction_type", "epsilon", ["epsilon", "v_prediction", "sample"]);
}

export function readTrainTimesteps(config: SchedulerConfig): number {
  return readInteger(config, "num_train_timesteps", 1000, [1, MAX_TRAIN_TIMESTEPS]);
}

function wrongValue(field: string, value: unknown, wanted: string): InvalidInputError {
  return new InvalidInputError(`scheduler: ${field} = ${JSON.stringify(value)} is not ${wanted}`);
}
