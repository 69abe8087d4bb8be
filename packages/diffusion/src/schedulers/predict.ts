import { combine } from "./schedule.js";
import type { PredictionType } from "./scheduler-config.js";

/**
 * Clean latents and noise that a model output stands for, when sample = signal * clean + noise * eps (signal^2 + noise^2 = 1).
 */
export function toOriginal(
  prediction: PredictionType,
  output: Float32Array,
  sample: Float32Array,
  signal: number,
  noise: number,
): Float32Array {
  if (prediction === "sample") return output;
  if (prediction === "epsilon") return combine([1 / signal, sample], [-noise / signal, output]);
  return combine([signal, sample], [-noise, output]);
}

export function toEpsilon(
  prediction: PredictionType,
  output: Float32Array,
  sample: Float32Array,
  signal: number,
  noise: number,
): Float32Array {
  if (prediction === "epsilon") return output;
  if (prediction === "sample") return combine([1 / noise, sample], [-signal / noise, output]);
  return combine([signal, output], [noise, sample]);
}
