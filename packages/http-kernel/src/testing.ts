// What services' tests share. Nothing here is used by a running program.
export { type CrossCuttingTarget, crossCuttingSuite } from "./testing/cross-cutting-suite.js";
export { type RawAnswer, rawRequest } from "./testing/raw-request.js";
export { ProgramEnded, type ProgramOptions, type RunningProgram, startProgram } from "./testing/start-program.js";
