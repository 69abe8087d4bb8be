/**
 * A schedule is a scheduler made ready for one image: its timesteps are fixed and multistep methods keep their history in it.
 * Steps are named by their index in `timesteps`; an image-to-image run starts at a later index. All arithmetic is in doubles and
 * is rounded to F32 once per step, so results do not depend on the machine.
 */
export interface Schedule {
  /** what the model is told, first step first; fractional for some schedulers */
  readonly timesteps: readonly number[];
  /** standard deviation of the noise a text-to-image run starts from */
  readonly initNoiseSigma: number;
  /** the latents as the model wants to see them at this step */
  scaleModelInput(sample: Float32Array, step: number): Float32Array;
  /** the latents of the next step; `drawNoise` is called at most once, only by stochastic methods */
  step(modelOutput: Float32Array, step: number, sample: Float32Array, drawNoise: () => Float32Array): Float32Array;
  /** the clean latents this step's output points at; used for previews */
  predictOriginal(modelOutput: Float32Array, step: number, sample: Float32Array): Float32Array;
  /** clean latents brought to the noise level of this step; `timesteps.length` is the end of the run (clean) */
  addNoise(original: Float32Array, noise: Float32Array, step: number): Float32Array;
}

export interface Scheduler {
  /** the class that really runs; differs from the config's for classes that have a documented equal */
  readonly className: string;
  /** set when the config names a class that is run by an equal one */
  readonly note?: string;
  createSchedule(steps: number): Schedule;
}

/** sum of coefficient * array, rounded to F32 once. The workhorse of every step rule. */
export function combine(...terms: readonly (readonly [number, Float32Array])[]): Float32Array {
  const used = terms.filter(([coefficient]) => coefficient !== 0);
  const length = terms[0]![1].length;
  const result = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    let sum = 0;
    for (const [coefficient, values] of used) sum += coefficient * values[i]!;
    result[i] = sum;
  }
  return result;
}

export function clampValues(values: Float32Array, limit: number): Float32Array {
  return values.map((value) => Math.min(limit, Math.max(-limit, value)));
}
