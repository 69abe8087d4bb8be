/** Which training timesteps an inference run visits. Rounding is to even halves, as NumPy's. */
import { InvalidInputError } from "../invalid-input-error.js";
import type { TimestepSpacing } from "./scheduler-config.js";

export interface SpacingOptions {
  readonly spacing: TimestepSpacing;
  readonly steps: number;
  readonly trainTimesteps: number;
  readonly stepsOffset: number;
  /** some methods divide the range by steps + 1 and leave out the last point (0) */
  readonly dropLast: boolean;
  /** Euler methods keep fractions in linspace spacing */
  readonly fractional: boolean;
}

export function spaceTimesteps(options: SpacingOptions): number[] {
  const { spacing, steps, trainTimesteps, stepsOffset, dropLast, fractional } = options;
  if (!Number.isInteger(steps) || steps < 1) throw new InvalidInputError(`steps = ${steps} is not a positive integer`);
  const points = dropLast ? steps + 1 : steps;
  if (points > trainTimesteps) {
    throw new InvalidInputError(`steps = ${steps} exceeds the ${trainTimesteps} timesteps the model was trained on`);
  }
  if (spacing === "trailing") {
    const ratio = trainTimesteps / steps;
    return Array.from({ length: steps }, (_, i) => roundHalfToEven(trainTimesteps - i * ratio) - 1);
  }
  if (spacing === "leading") {
    const ratio = Math.floor(trainTimesteps / points);
    return Array.from({ length: steps }, (_, i) => (points - 1 - i) * ratio + stepsOffset);
  }
  const gap = points === 1 ? 0 : (trainTimesteps - 1) / (points - 1);
  return Array.from({ length: steps }, (_, i) => {
    const timestep = (points - 1 - i) * gap;
    return fractional ? Math.fround(timestep) : roundHalfToEven(timestep);
  });
}

export function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const fraction = value - floor;
  if (fraction !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
