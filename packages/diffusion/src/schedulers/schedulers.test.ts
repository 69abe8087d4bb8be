import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parsePythonJson } from "../parse-python-json.js";
import { createScheduler, overrideSchedulerConfig, type SchedulerConfig } from "./index.js";

interface Loop {
  readonly class: string;
  readonly config: Record<string, unknown>;
  readonly steps: number;
  readonly begin: number;
  readonly timesteps: number[];
  readonly initNoiseSigma: number;
  readonly started: number[];
  readonly result: number[];
}

const loops: Loop[] = JSON.parse(
  readFileSync(new URL("../../fixtures/schedulers/loops.json", import.meta.url), "utf8"),
) as Loop[];

const SIZE = 16;
const TOLERANCE = 1e-4;
/** F32 rounding of diffusers itself where 1/alpha reaches 4096 (zero terminal SNR) or a step divides by a tiny sigma. */
const RELATIVE_TO_SCALE = (values: readonly number[]) => Math.max(1e-3, ...values.map(Math.abs));

const startValues = () => Float32Array.from({ length: SIZE }, (_, i) => Math.fround(Math.sin(i * 1.7 + 0.3)) * 1.5);
const noiseValues = (call: number) =>
  Float32Array.from({ length: SIZE }, (_, i) => Math.sin(i * 2.1 + call * 0.9 + 0.1) * 1.4);
const fakeModel = (sample: Float32Array, t: number) =>
  sample.map((x) => 0.4 * x * Math.cos(t / 250) + 0.3 * Math.sin(3 * x + t / 100));

function expectClose(actual: ArrayLike<number>, expected: readonly number[], what: string): void {
  const scale = RELATIVE_TO_SCALE(expected);
  expect(actual.length, what).toBe(expected.length);
  for (const [i, value] of expected.entries()) {
    expect(Math.abs(actual[i]! - value) / scale, `${what}[${i}]: ${actual[i]} against ${value}`).toBeLessThan(
      TOLERANCE,
    );
  }
}

describe("schedulers equal diffusers'", () => {
  it.each(
    loops.map((loop) => [
      `${loop.class} ${JSON.stringify(loop.config).slice(0, 160)} steps ${loop.steps} from ${loop.begin}`,
      loop,
    ]),
  )("%s", (_, loop) => {
    const schedule = createScheduler({ ...loop.config, _class_name: loop.class }).createSchedule(loop.steps);
    expectClose(schedule.timesteps, loop.timesteps, "timesteps");
    expectClose([schedule.initNoiseSigma], [loop.initNoiseSigma], "initNoiseSigma");
    let sample =
      loop.begin === 0
        ? startValues().map((value) => value * schedule.initNoiseSigma)
        : schedule.addNoise(startValues(), noiseValues(99), loop.begin);
    expectClose(sample, loop.started, "start");
    let calls = 0;
    for (let step = loop.begin; step < schedule.timesteps.length; step++) {
      const output = fakeModel(schedule.scaleModelInput(sample, step), schedule.timesteps[step]!);
      sample = schedule.step(output, step, sample, () => noiseValues(calls++));
    }
    expectClose(sample, loop.result, "result");
  });
});

describe("scheduler configs", () => {
  const refusal = (config: Record<string, unknown>) => () => createScheduler(config);

  it("names the field, the value and the choices when a value is unknown", () => {
    expect(refusal({ _class_name: "DDIMScheduler", beta_schedule: "sigmoid" })).toThrow(
      'beta_schedule = "sigmoid" is not one of linear, scaled_linear, squaredcos_cap_v2',
    );
    expect(refusal({ _class_name: "EulerDiscreteScheduler", prediction_type: "flow" })).toThrow("prediction_type");
    expect(refusal({ _class_name: "UniPCMultistepScheduler", solver_order: 7 })).toThrow("solver_order = 7");
    expect(refusal({ _class_name: "DPMSolverMultistepScheduler", use_lu_lambdas: true })).toThrow("use_lu_lambdas");
    expect(refusal({ _class_name: "DDIMScheduler", num_train_timesteps: "many" })).toThrow("num_train_timesteps");
    expect(refusal({ _class_name: "DDIMScheduler", trained_betas: [2] })).toThrow("trained_betas");
    expect(refusal({ _class_name: "TCDScheduler" })).toThrow("TCDScheduler");
    expect(refusal({})).toThrow("_class_name is missing");
  });

  it("runs PNDM configs as DPM-Solver++ and says so", () => {
    const scheduler = createScheduler({ _class_name: "PNDMScheduler", skip_prk_steps: true, steps_offset: 1 });
    expect(scheduler.className).toBe("DPMSolverMultistepScheduler");
    expect(scheduler.note).toContain("PNDMScheduler");
  });

  it("reads Python's infinities", () => {
    const text =
      '{"_class_name": "DPMSolverMultistepScheduler", "lambda_min_clipped": -Infinity, "note": "a: Infinity"}';
    const config = parsePythonJson(text) as SchedulerConfig;
    expect(config["note"]).toBe("a: Infinity");
    expect(createScheduler(config).createSchedule(5).timesteps).toHaveLength(5);
    expect(() => parsePythonJson("{")).toThrow(SyntaxError);
  });

  it("refuses overrides of unknown fields and absurd step counts", () => {
    expect(() => overrideSchedulerConfig({}, { beta_strat: 1 })).toThrow("beta_strat");
    expect(() => createScheduler({ _class_name: "DDIMScheduler" }).createSchedule(1001)).toThrow("1000");
    expect(() => createScheduler({ _class_name: "LCMScheduler" }).createSchedule(51)).toThrow("50");
    expect(() => createScheduler({ _class_name: "EulerDiscreteScheduler" }).createSchedule(0)).toThrow("positive");
  });
});
