/** Pictures to latents and back, in tiles when they are large. */
import type { VaePart } from "./diffusion-model.js";
import type { Latents } from "./latents.js";
import { fromPlanes, type Pixels, toPlanes } from "./pixels.js";
import { floats, pickOutput } from "./session.js";
import { processInTiles } from "./tiling.js";

/** Up to 96x96 cells (768x768 pixels) in one piece: about 2.5 GiB for a Stable Diffusion VAE in F32. */
const MAX_CELLS_IN_ONE_PIECE = 96 * 96;
const TILE_CELLS = 64;
const OVERLAP_CELLS = 16;

export async function decodeLatents(vae: VaePart, latents: Latents): Promise<Pixels> {
  const decoder = await vae.openDecoder();
  const unscaled = {
    ...latents,
    data: latents.data.map((value) => value / vae.scalingFactor + vae.shiftFactor),
  };
  const decode = async (tile: Latents) => {
    const feeds = { latents: floats([1, tile.channels, tile.height, tile.width], tile.data) };
    return pickOutput(await decoder.run(feeds), "sample").data;
  };
  const width = latents.width * vae.factor;
  const height = latents.height * vae.factor;
  if (latents.width * latents.height <= MAX_CELLS_IN_ONE_PIECE) {
    return fromPlanes(await decode(unscaled), width, height);
  }
  const options = { size: TILE_CELLS, overlap: OVERLAP_CELLS, scale: vae.factor, outChannels: 3 };
  return fromPlanes((await processInTiles(unscaled, options, decode)).data, width, height);
}

/** The mean of the encoder's distribution: the same picture always gives the same latents. */
export async function encodePixels(vae: VaePart, pixels: Pixels): Promise<Latents> {
  const encoder = await vae.openEncoder();
  const encode = async (tile: Latents) => {
    const feeds = { sample: floats([1, 3, tile.height, tile.width], tile.data) };
    return pickOutput(await encoder.run(feeds), "mean").data;
  };
  const planes: Latents = { channels: 3, width: pixels.width, height: pixels.height, data: toPlanes(pixels) };
  const width = pixels.width / vae.factor;
  const height = pixels.height / vae.factor;
  const whole = width * height <= MAX_CELLS_IN_ONE_PIECE;
  const options = {
    size: TILE_CELLS * vae.factor,
    overlap: OVERLAP_CELLS * vae.factor,
    scale: 1 / vae.factor,
    outChannels: vae.latentChannels,
  };
  const mean = whole ? await encode(planes) : (await processInTiles(planes, options, encode)).data;
  const data = mean.map((value) => (value - vae.shiftFactor) * vae.scalingFactor);
  return { channels: vae.latentChannels, width, height, data };
}
