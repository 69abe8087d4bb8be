/** Every bound of the API, with its reason. The numbers are part of the contract: clients may rely on them. */

/** 77 tokens reach the model; a thousand times that is a pasted book, not a prompt. */
export const MAX_PROMPT_BYTES = 77_000;
/** Below this the latents have too few cells to hold a picture. */
export const MIN_SIDE = 64;
export const MAX_SIDE = 2048;
/** The autoencoder halves the picture three times. */
export const SIDE_MULTIPLE = 8;
/** The memory of attention grows with the square of the area. */
export const MAX_AREA = 4_000_000;
export const MAX_STEPS = 150;
export const MAX_GUIDANCE = 100;
export const MAX_BATCH = 16;
export const MAX_ADAPTER_SCALE = 4;
/** Largest integer that JSON and JavaScript carry exactly. */
export const MAX_SEED = 2 ** 53 - 1;
/** Random seeds stay in 32 bits, which are easier to copy by hand. */
export const MAX_RANDOM_SEED = 2 ** 32 - 1;
/** A decoded input of this size already takes 96 MiB. */
export const MAX_INPUT_PIXELS = 32_000_000;
export const MAX_BODY_BYTES = 64 * 2 ** 20;
export const MAX_VARIATIONS = 8;
export const MAX_GALLERY_PAGE = 500;
export const DEFAULT_GALLERY_PAGE = 50;
export const MAX_MODEL_NAME = 200;
export const MAX_PATH = 4_096;

export const DEFAULT_STRENGTH = 0.75;
export const DEFAULT_ADAPTER_SCALE = 1;
export const DEFAULT_PORT = 7680;
