import { InvalidInputError } from "../invalid-input-error.js";
import { createDdim } from "./ddim.js";
import { createDpmSolverMultistep } from "./dpm-solver-multistep.js";
import { createEuler } from "./euler.js";
import { createEulerAncestral } from "./euler-ancestral.js";
import { createLcm } from "./lcm.js";
import type { Scheduler } from "./schedule.js";
import type { SchedulerConfig } from "./scheduler-config.js";
import { createUniPcMultistep } from "./unipc-multistep.js";

const CREATORS: Readonly<Record<string, (config: SchedulerConfig) => Scheduler>> = {
  DDIMScheduler: createDdim,
  EulerDiscreteScheduler: createEuler,
  EulerAncestralDiscreteScheduler: createEulerAncestral,
  DPMSolverMultistepScheduler: createDpmSolverMultistep,
  UniPCMultistepScheduler: createUniPcMultistep,
  LCMScheduler: createLcm,
};

/**
 * Classes that checkpoints name but that need not be written again: they solve the same equation from the same noise schedule,
 * so a solver above reaches the same picture. Deterministic ones run as DPM-Solver++ 2M (fewer calls for the same error),
 * stochastic ones as Euler ancestral.
 */
const EQUALS: Readonly<Record<string, string>> = {
  PNDMScheduler: "DPMSolverMultistepScheduler",
  LMSDiscreteScheduler: "DPMSolverMultistepScheduler",
  HeunDiscreteScheduler: "DPMSolverMultistepScheduler",
  DEISMultistepScheduler: "DPMSolverMultistepScheduler",
  DPMSolverSinglestepScheduler: "DPMSolverMultistepScheduler",
  KDPM2DiscreteScheduler: "DPMSolverMultistepScheduler",
  KDPM2AncestralDiscreteScheduler: "EulerAncestralDiscreteScheduler",
  DDPMScheduler: "EulerAncestralDiscreteScheduler",
};

/** Fields that mean something else in the class that stands in. */
const CLASS_SPECIFIC_FIELDS = ["solver_type", "algorithm_type", "solver_order", "variance_type", "steps_offset"];

export const SCHEDULER_CLASS_NAMES: readonly string[] = Object.keys(CREATORS);

export function createScheduler(config: SchedulerConfig): Scheduler {
  const className = config["_class_name"];
  if (typeof className !== "string") {
    throw new InvalidInputError(`scheduler: _class_name is missing; name one of ${SCHEDULER_CLASS_NAMES.join(", ")}`);
  }
  const creator = CREATORS[className];
  if (creator) return creator(config);
  const equal = EQUALS[className];
  if (!equal) {
    throw new InvalidInputError(
      `scheduler: _class_name = "${className}" is not supported; choose one of ${SCHEDULER_CLASS_NAMES.join(", ")}`,
    );
  }
  const kept = Object.entries(config).filter(([field]) => !CLASS_SPECIFIC_FIELDS.includes(field));
  const scheduler = CREATORS[equal]!(Object.fromEntries(kept));
  return { ...scheduler, note: `${className} is run as ${equal}, which solves the same equation` };
}
