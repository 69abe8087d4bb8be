// What services' tests share. Nothing here is used by a running program.
export type { KnownValues } from "./testing/arbitrary-request.js";
export { type CheckRoutesOptions, checkRoute } from "./testing/check-routes.js";
export { type CrossCuttingTarget, crossCuttingSuite } from "./testing/cross-cutting-suite.js";
export { browserPath, inBrowser, openBrowser } from "./testing/open-browser.js";
export { type RawAnswer, rawRequest } from "./testing/raw-request.js";
export { ProgramEnded, type ProgramOptions, type RunningProgram, startProgram } from "./testing/start-program.js";
