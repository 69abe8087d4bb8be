/** UniPC: a multistep predictor whose every step is first corrected with the new model output. Data prediction, orders 1 to 3. */
import { InvalidInputError } from "../invalid-input-error.js";
import { addNoiseAtSigma, createGridMaker, describeSigma, type MultistepGrid } from "./multistep-sigmas.js";
import { toOriginal } from "./predict.js";
import { combine, type Schedule, type Scheduler } from "./schedule.js";
import {
  type PredictionType,
  readBoolean,
  readChoice,
  readInteger,
  readNumbers,
  readPredictionType,
  refuseOptions,
  type SchedulerConfig,
} from "./scheduler-config.js";

interface SolverOptions {
  readonly prediction: PredictionType;
  readonly order: number;
  /** the B(h) of the paper: h itself (bh1) or expm1(h) (bh2) */
  readonly plainB: boolean;
  readonly lowerOrderFinal: boolean;
  readonly uncorrectedSteps: readonly number[];
}

export function createUniPcMultistep(config: SchedulerConfig): Scheduler {
  refuseOptions(config, ["solver_p"]);
  if (!readBoolean(config, "predict_x0", true)) {
    throw new InvalidInputError("scheduler: predict_x0 = false is not supported; leave it out");
  }
  const makeGrid = createGridMaker(config, { family: "unipc" });
  const options: SolverOptions = {
    prediction: readPredictionType(config),
    order: readInteger(config, "solver_order", 2, [1, 3]),
    plainB: readChoice(config, "solver_type", "bh2", ["bh1", "bh2", "midpoint", "heun", "logrho"]) === "bh1",
    lowerOrderFinal: readBoolean(config, "lower_order_final", true),
    uncorrectedSteps: readNumbers(config, "disable_corrector") ?? [],
  };
  return {
    className: "UniPCMultistepScheduler",
    createSchedule: (steps) => createUniPcSchedule(makeGrid(steps), options),
  };
}

function createUniPcSchedule(grid: MultistepGrid, options: SolverOptions): Schedule {
  const { timesteps, sigmas } = grid;
  const points = sigmas.map(describeSigma);
  const history: Float32Array[] = [];
  let lastSample: Float32Array | null = null;
  let lastOrder = 1;

  const predictOriginal = (output: Float32Array, step: number, sample: Float32Array) =>
    toOriginal(options.prediction, output, sample, points[step]!.signal, points[step]!.noise);

  return {
    timesteps,
    initNoiseSigma: 1,
    scaleModelInput: (sample) => sample,
    predictOriginal,
    addNoise: (original, noise, step) => addNoiseAtSigma(original, noise, sigmas[step]!),
    step(output, step, sample) {
      const original = predictOriginal(output, step, sample);
      const corrects = lastSample !== null && !options.uncorrectedSteps.includes(step - 1);
      const corrected = corrects ? correct(original, lastSample!, step) : sample;
      history.push(original);
      if (history.length > options.order) history.shift();
      const limit = options.lowerOrderFinal ? timesteps.length - step : options.order;
      lastOrder = Math.min(options.order, limit, history.length);
      lastSample = corrected;
      return predict(corrected, step);
    },
  };

  function predict(sample: Float32Array, step: number): Float32Array {
    const order = lastOrder;
    const stepping = measureStep(step, order);
    const weights = order === 2 ? [0.5] : solveSmall(stepping.powers(order - 1), stepping.moments.slice(0, order - 1));
    return assemble(sample, step, stepping, weights, null);
  }

  function correct(newest: Float32Array, sample: Float32Array, step: number): Float32Array {
    const order = lastOrder;
    const stepping = measureStep(step - 1, order);
    const weights = order === 1 ? [0.5] : solveSmall(stepping.powers(order), stepping.moments);
    return assemble(sample, step - 1, stepping, weights, newest);
  }

  /** Quantities of the step from grid point `from` to the next, with `order` points of history. */
  function measureStep(from: number, order: number) {
    const h = points[from + 1]!.logSnr - points[from]!.logSnr;
    const ratios = Array.from(
      { length: order - 1 },
      (_, i) => (points[from - i - 1]!.logSnr - points[from]!.logSnr) / h,
    );
    const exponential = Math.expm1(-h);
    const b = options.plainB ? -h : exponential;
    const moments: number[] = [];
    let phi = exponential / -h - 1;
    let factorial = 1;
    for (let i = 1; i <= order; i++) {
      moments.push((phi * factorial) / b);
      factorial *= i + 1;
      phi = phi / -h - 1 / factorial;
    }
    const nodes = [...ratios, 1];
    const powers = (size: number) =>
      Array.from({ length: size }, (_, power) => nodes.slice(0, size).map((node) => node ** power));
    return { ratios, exponential, b, moments, powers };
  }

  function assemble(
    sample: Float32Array,
    from: number,
    stepping: ReturnType<typeof measureStep>,
    weights: readonly number[],
    newest: Float32Array | null,
  ): Float32Array {
    const to = points[from + 1]!;
    const m0 = history.at(-1)!;
    const terms: [number, Float32Array][] = [[to.noise / points[from]!.noise, sample]];
    let onM0 = -to.signal * stepping.exponential;
    for (const [i, ratio] of stepping.ratios.entries()) {
      const share = (-to.signal * stepping.b * weights[i]!) / ratio;
      terms.push([share, history.at(-2 - i)!]);
      onM0 -= share;
    }
    if (newest) {
      const share = -to.signal * stepping.b * weights.at(-1)!;
      terms.push([share, newest]);
      onM0 -= share;
    }
    return combine(...terms, [onM0, m0]);
  }
}

/** Gaussian elimination with pivoting for the at most 3x3 systems here. */
function solveSmall(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const size = matrix.length;
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++) {
      if (Math.abs(rows[row]![column]!) > Math.abs(rows[pivot]![column]!)) pivot = row;
    }
    [rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!];
    for (let row = 0; row < size; row++) {
      if (row === column) continue;
      const factor = rows[row]![column]! / rows[column]![column]!;
      for (let k = column; k <= size; k++) rows[row]![k]! -= factor * rows[column]![k]!;
    }
  }
  return rows.map((row, i) => row[size]! / row[i]!);
}
