export { continueEdges } from "./continue-edges.js";
export type { DiffusionModel, TextEncoderPart, UnetPart, UpscalerPart, VaePart } from "./diffusion-model.js";
export { isInpaintingUnet } from "./diffusion-model.js";
export { type EncodedPrompt, type EncodedPrompts, encodePrompts } from "./encode-prompt.js";
export { enlargePixels } from "./enlarge-pixels.js";
export {
  countImageSteps,
  type GeneratedImages,
  type GenerateHooks,
  type GenerateRequest,
  type GenerateStage,
  generateImages,
  offsetSeed,
} from "./generate-images.js";
export { compositePixels } from "./inpainting.js";
export type { Latents } from "./latents.js";
export { chooseCanvas, chooseDrawnSize, chooseTrainedSize, type Size, type TrainedSizes } from "./native-size.js";
export type { Pixels } from "./pixels.js";
export { createNoisePredictor, type NoisePredictor, type PredictorOptions } from "./predict-noise.js";
export { drawPreview, fitPreviewMap, type PreviewMap } from "./preview.js";
export { resizeMask, resizePixels } from "./resize-pixels.js";
export type { Feeds, FloatTensor, IntTensor, Session } from "./session.js";
export { decodeLatents, encodePixels } from "./vae.js";
