export { applyWeights, hasWeights } from "./apply-weights.js";
export { type ChunkedPrompt, chunkPrompt, createChunk, MAX_CHUNKS, type PromptChunk } from "./chunk-tokens.js";
export { parseWeights, type WeightedText } from "./parse-weights.js";
