export * from "./adapters/index.js";
export { InvalidInputError } from "./invalid-input-error.js";
export * from "./models/index.js";
export * from "./pipelines/index.js";
export * from "./prompts/index.js";
export { drawNoise, NOISE_STREAMS } from "./random.js";
export * from "./schedulers/index.js";
export * from "./tokenizers/index.js";
