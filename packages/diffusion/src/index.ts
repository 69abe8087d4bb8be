export { InvalidInputError } from "./invalid-input-error.js";
export { drawNoise, NOISE_STREAMS } from "./random.js";
export * from "./schedulers/index.js";
export * from "./tokenizers/index.js";
