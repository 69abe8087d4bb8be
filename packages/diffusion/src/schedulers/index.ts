export { createScheduler, SCHEDULER_CLASS_NAMES } from "./create-scheduler.js";
export type { Schedule, Scheduler } from "./schedule.js";
export { overrideSchedulerConfig, type SchedulerConfig } from "./scheduler-config.js";
