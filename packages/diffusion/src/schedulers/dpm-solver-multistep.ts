/** DPM-Solver++ (multistep, data prediction), orders 1 to 3, with optional Karras sigmas and an optional stochastic form. */
import { addNoiseAtSigma, createGridMaker, describeSigma, type MultistepGrid } from "./multistep-sigmas.js";
import { toOriginal } from "./predict.js";
import { combine, type Schedule, type Scheduler } from "./schedule.js";
import {
  type PredictionType,
  readBoolean,
  readChoice,
  readInteger,
  readPredictionType,
  refuseOptions,
  type SchedulerConfig,
} from "./scheduler-config.js";

/** Runs shorter than this lower the order at their end: high orders are unstable over few, large last steps. */
const FEW_STEPS = 15;

interface SolverOptions {
  readonly prediction: PredictionType;
  readonly order: number;
  readonly stochastic: boolean;
  readonly heun: boolean;
  readonly lowerOrderFinal: boolean;
  readonly eulerAtFinal: boolean;
}

export function createDpmSolverMultistep(config: SchedulerConfig): Scheduler {
  refuseOptions(config, ["variance_type"]);
  const makeGrid = createGridMaker(config, { family: "dpm" });
  const stochastic =
    readChoice(config, "algorithm_type", "dpmsolver++", ["dpmsolver++", "sde-dpmsolver++"]) === "sde-dpmsolver++";
  const options: SolverOptions = {
    prediction: readPredictionType(config),
    order: readInteger(config, "solver_order", 2, [1, stochastic ? 2 : 3]),
    stochastic,
    heun: readChoice(config, "solver_type", "midpoint", ["midpoint", "heun", "logrho", "bh1", "bh2"]) === "heun",
    lowerOrderFinal: readBoolean(config, "lower_order_final", true),
    eulerAtFinal: readBoolean(config, "euler_at_final", false),
  };
  return {
    className: "DPMSolverMultistepScheduler",
    createSchedule: (steps) => createDpmSchedule(makeGrid(steps), options),
  };
}

function createDpmSchedule(grid: MultistepGrid, options: SolverOptions): Schedule {
  const { timesteps, sigmas } = grid;
  const points = sigmas.map(describeSigma);
  /** clean latents predicted by the latest steps, newest last */
  const history: Float32Array[] = [];

  const predictOriginal = (output: Float32Array, step: number, sample: Float32Array) =>
    toOriginal(options.prediction, output, sample, points[step]!.signal, points[step]!.noise);

  const chooseOrder = (step: number): number => {
    const few = options.lowerOrderFinal && timesteps.length < FEW_STEPS;
    const last = step === timesteps.length - 1;
    if (last && (options.eulerAtFinal || few || sigmas.at(-1) === 0)) return 1;
    const limit = step === timesteps.length - 2 && few ? 2 : 3;
    return Math.min(options.order, history.length, limit);
  };

  return {
    timesteps,
    initNoiseSigma: 1,
    scaleModelInput: (sample) => sample,
    predictOriginal,
    addNoise: (original, noise, step) => addNoiseAtSigma(original, noise, sigmas[step]!),
    step(output, step, sample, drawNoise) {
      history.push(predictOriginal(output, step, sample));
      if (history.length > options.order) history.shift();
      const order = chooseOrder(step);
      const [from, to] = [points[step]!, points[step + 1]!];
      const h = to.logSnr - from.logSnr;
      const lead = options.stochastic ? 2 * h : h;
      // share of the clean prediction in the exact solution; 1 when the run ends at sigma 0
      const gain = -to.signal * Math.expm1(-lead);
      const keep = (to.noise / from.noise) * (options.stochastic ? Math.exp(-h) : 1);
      const terms: [number, Float32Array][] = [[keep, sample], ...correctionTerms(step, order, h, lead, gain)];
      if (options.stochastic && to.noise > 0) terms.push([to.noise * Math.sqrt(-Math.expm1(-2 * h)), drawNoise()]);
      return combine(...terms);
    },
  };

  /** The clean prediction as a polynomial in log SNR through the latest `order` points, integrated over the step. */
  function correctionTerms(
    step: number,
    order: number,
    h: number,
    lead: number,
    gain: number,
  ): [number, Float32Array][] {
    const m0 = history.at(-1)!;
    if (order === 1) return [[gain, m0]];
    const to = points[step + 1]!;
    const r0 = (points[step]!.logSnr - points[step - 1]!.logSnr) / h;
    const m1 = history.at(-2)!;
    const linear = to.signal * (Math.expm1(-lead) / lead + 1);
    if (order === 2) {
      const first = options.heun ? linear : gain / 2;
      return [
        [gain + first / r0, m0],
        [-first / r0, m1],
      ];
    }
    const m2 = history.at(-3)!;
    const r1 = (points[step - 1]!.logSnr - points[step - 2]!.logSnr) / h;
    const quadratic = -to.signal * ((Math.expm1(-h) + h) / (h * h) - 0.5);
    // first differences d0 = (m0-m1)/r0, d1 = (m1-m2)/r1; D1 = d0 + r0/(r0+r1) (d0-d1); D2 = (d0-d1)/(r0+r1)
    const onD0 = linear * (1 + r0 / (r0 + r1)) + quadratic / (r0 + r1);
    const onD1 = -(linear * r0 + quadratic) / (r0 + r1);
    return [
      [gain + onD0 / r0, m0],
      [-onD0 / r0 + onD1 / r1, m1],
      [-onD1 / r1, m2],
    ];
  }
}
