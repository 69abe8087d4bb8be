/** Pictures drawn smaller than asked for, brought to the size asked for: by the model's own net where it has one, the rest by Lanczos. */
import type { UpscalerPart } from "./diffusion-model.js";
import { fromPlanes, type Pixels, toPlanes } from "./pixels.js";
import { resizePixels } from "./resize-pixels.js";
import { floats, pickOutput } from "./session.js";
import { processInTiles } from "./tiling.js";

/** Each pass sharpens what the one before guessed; after two, guesses of guesses show as ringing. */
const MAX_PASSES = 2;
/** Tiles bound memory and keep the convolutions in the processor's caches; the net sees 10 pixels around each. */
const TILE = 256;
const OVERLAP = 24;

export async function enlargePixels(
  pixels: Pixels,
  width: number,
  height: number,
  upscaler: UpscalerPart | undefined,
): Promise<Pixels> {
  let current = pixels;
  for (let pass = 0; upscaler && pass < MAX_PASSES && current.width < width && current.height < height; pass++) {
    current = await runUpscaler(current, upscaler);
  }
  if (current.width === width && current.height === height) return current;
  return resizePixels(current, width, height);
}

async function runUpscaler(pixels: Pixels, upscaler: UpscalerPart): Promise<Pixels> {
  const session = await upscaler.open();
  const { width, height } = pixels;
  const planes = { channels: 3, width, height, data: toPlanes(pixels) };
  const options = { size: TILE, overlap: OVERLAP, scale: upscaler.scale, outChannels: 3 };
  const enlarged = await processInTiles(planes, options, async (tile) => {
    const outputs = await session.run({ sample: floats([1, 3, tile.height, tile.width], tile.data) });
    return pickOutput(outputs, "enlarged").data;
  });
  return fromPlanes(enlarged.data, enlarged.width, enlarged.height);
}
