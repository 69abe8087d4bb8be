export { writeOriginalAutoencoder, writeSingleFile } from "./original-files.js";
export { TINY_ADAPTER_LAYERS, type TinyAdapterOptions, writeTinyAdapter } from "./tiny-adapter.js";
export { writeTinyAutoencoder } from "./tiny-autoencoder.js";
export { type TinyCheckpointOptions, writeTinyCheckpoint } from "./tiny-checkpoint.js";
