/** Euler's method with fresh noise after every step but the last. */
import { createSigmaSpace, predictFromSigma, spaceForEuler } from "./euler.js";
import { computeNoiseLevels, computeTrainSigmas } from "./noise-levels.js";
import { combine, type Schedule, type Scheduler } from "./schedule.js";
import { readPredictionType, type SchedulerConfig } from "./scheduler-config.js";

export function createEulerAncestral(config: SchedulerConfig): Scheduler {
  const prediction = readPredictionType(config);
  const trainSigmas = computeTrainSigmas(computeNoiseLevels(config));

  const createSchedule = (steps: number): Schedule => {
    const spaced = spaceForEuler(config, steps, trainSigmas);
    const sigmas = [...spaced.sigmas, 0];
    return {
      ...createSigmaSpace(spaced.timesteps, sigmas, spaced.startsAtFullNoise, prediction),
      step(output, step, sample, drawNoise) {
        const [sigma, next] = [sigmas[step]!, sigmas[step + 1]!];
        const up = Math.sqrt((next ** 2 * (sigma ** 2 - next ** 2)) / sigma ** 2);
        const down = Math.sqrt(next ** 2 - up ** 2);
        const original = predictFromSigma(prediction, output, sample, sigma);
        const moved = [[down / sigma, sample] as const, [1 - down / sigma, original] as const];
        return up === 0 ? combine(...moved) : combine(...moved, [up, drawNoise()]);
      },
    };
  };
  return { className: "EulerAncestralDiscreteScheduler", createSchedule };
}
