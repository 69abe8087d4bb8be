export {
  type AutoencoderKLConfig,
  buildAutoencoderKLDecoder,
  buildAutoencoderKLEncoder,
  readAutoencoderKLConfig,
} from "./autoencoder-kl.js";
export {
  type AutoencoderTinyConfig,
  buildAutoencoderTinyDecoder,
  buildAutoencoderTinyEncoder,
  readAutoencoderTinyConfig,
} from "./autoencoder-tiny.js";
export { type AutoencoderConfig, type Checkpoint, CheckpointError, type Component } from "./checkpoint.js";
export {
  buildCLIPTextModel,
  type CLIPTextConfig,
  type CLIPTextOutputs,
  readCLIPTextConfig,
} from "./clip-text-model.js";
export { buildUpscaler, openUpscaler, readUpscalerConfig, type UpscalerConfig } from "./doodle-upscaler.js";
export { type OpenOptions, openAutoencoder, openCheckpoint } from "./open-checkpoint.js";
export { renameUNetTensor } from "./original-names.js";
export { ConfigError, ConfigReader } from "./read-config.js";
export { buildUNet2DConditionModel, readUNetConfig, type UNetConfig } from "./unet-2d-condition-model.js";
