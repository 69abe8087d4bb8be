/**
 * Shapes that a small model was not trained on. Asked for a very wide picture it stretches the thing or draws it twice, so it draws
 * a shape it knows, whose edges are drawn out to the one that was asked for; then the new parts alone are repainted at
 * half strength without words, which turns the streaks into more of the same sky, ground or paper.
 */
import type { DiffusionModel } from "./diffusion-model.js";
import { type GenerateHooks, generateImages } from "./generate-images.js";
import type { Size } from "./native-size.js";
import type { Pixels } from "./pixels.js";

/** Below, streaks stay; above, the model begins to put things there. Found by looking at doodle's pictures. */
const STRENGTH = 0.5;
/** Width of the seam in which new and old are mixed. */
const SEAM = 8;

export interface EdgeRequest {
  readonly canvas: Size;
  readonly steps: number;
  readonly seed: number;
}

export async function continueEdges(
  model: DiffusionModel,
  picture: Pixels,
  { canvas, steps, seed }: EdgeRequest,
  hooks: Pick<GenerateHooks, "checkCancelled" | "batchGuidance">,
): Promise<Pixels> {
  const { width, height } = canvas;
  const spread = spreadEdges(picture, canvas);
  const request = { prompt: "", negativePrompt: "", width, height, steps, guidance: 1, seed, batch: 1 };
  const quiet: GenerateHooks = { ...hooks, stage: (_name, work) => work(), onStep: () => hooks.checkCancelled() };
  const { images } = await generateImages(model, { ...request, ...spread, strength: STRENGTH }, quiet);
  return images[0]!;
}

/** The picture in the middle of the canvas with its outermost rows and columns repeated to the ends, and a mask of what is new. */
export function spreadEdges(picture: Pixels, canvas: Size): { readonly image: Pixels; readonly mask: Uint8Array } {
  const { width, height } = canvas;
  const left = (width - picture.width) >> 1;
  const top = (height - picture.height) >> 1;
  const rgb = new Uint8Array(width * height * 3);
  const mask = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const fromX = clamp(x - left, picture.width - 1);
      const fromY = clamp(y - top, picture.height - 1);
      const from = (fromY * picture.width + fromX) * 3;
      rgb.set(picture.rgb.subarray(from, from + 3), (y * width + x) * 3);
      // how far inside the picture, counting only from edges that were continued
      const across = width > picture.width ? Math.min(x - left, left + picture.width - 1 - x) : SEAM;
      const down = height > picture.height ? Math.min(y - top, top + picture.height - 1 - y) : SEAM;
      mask[y * width + x] = Math.round((255 * (SEAM - clamp(Math.min(across, down), SEAM))) / SEAM);
    }
  }
  return { image: { width, height, rgb }, mask };
}

function clamp(value: number, most: number): number {
  return Math.min(most, Math.max(0, value));
}
