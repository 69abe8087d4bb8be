/** Sigmas (noise over signal) at chosen timesteps, and the re-spacings Karras et al. and others proposed for them. */
const KARRAS_RHO = 7;

/** Linear interpolation between the training sigmas; outside their range the ends are used. */
export function interpolateSigmas(timesteps: readonly number[], trainSigmas: Float64Array): number[] {
  const last = trainSigmas.length - 1;
  return timesteps.map((timestep) => {
    const clamped = Math.min(last, Math.max(0, timestep));
    const low = Math.min(Math.floor(clamped), Math.max(0, last - 1));
    const high = Math.min(low + 1, last);
    return trainSigmas[low]! + (trainSigmas[high]! - trainSigmas[low]!) * (clamped - low);
  });
}

export function spaceSigmasKarras(max: number, min: number, steps: number): number[] {
  const from = max ** (1 / KARRAS_RHO);
  const to = min ** (1 / KARRAS_RHO);
  return ramp(steps).map((fraction) => (from + fraction * (to - from)) ** KARRAS_RHO);
}

export function spaceSigmasExponentially(max: number, min: number, steps: number): number[] {
  return ramp(steps).map((fraction) => Math.exp(Math.log(max) + fraction * (Math.log(min) - Math.log(max))));
}

/** The (fractional) training timestep with this sigma, by interpolation in log sigma. */
export function findTimestepOfSigma(sigma: number, trainSigmas: Float64Array): number {
  const target = Math.log(Math.max(sigma, 1e-10));
  const last = trainSigmas.length - 1;
  let low = 0;
  for (let i = 1; i <= last - 1; i++) if (Math.log(trainSigmas[i]!) <= target) low = i;
  const high = Math.min(low + 1, last);
  const lowLog = Math.log(trainSigmas[low]!);
  const highLog = Math.log(trainSigmas[high]!);
  const weight = Math.min(1, Math.max(0, (lowLog - target) / (lowLog - highLog)));
  return (1 - weight) * low + weight * high;
}

function ramp(steps: number): number[] {
  return Array.from({ length: steps }, (_, i) => (steps === 1 ? 0 : i / (steps - 1)));
}
