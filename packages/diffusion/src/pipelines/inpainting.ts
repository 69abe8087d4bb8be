/** What inpainting adds to a run: masks at latent size, the kept latents, and the final composite that keeps pixels exactly. */
import { type DiffusionModel, isInpaintingUnet } from "./diffusion-model.js";
import type { Latents } from "./latents.js";
import type { Pixels } from "./pixels.js";
import { encodePixels } from "./vae.js";

/** From this value on a mask's pixel counts as repainted where only yes or no is possible. */
const REPAINTED_FROM = 128;

/** 1 for every cell any of whose pixels is repainted: what the composite shows must have been painted. */
export function shrinkMask(mask: Uint8Array, width: number, height: number, factor: number): Float32Array {
  const cellsAcross = width / factor;
  const cells = new Float32Array(cellsAcross * (height / factor));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (mask[y * width + x]! >= REPAINTED_FROM) {
        cells[Math.floor(y / factor) * cellsAcross + Math.floor(x / factor)] = 1;
      }
    }
  }
  return cells;
}

/** Repainted cells from one, kept cells from the other. */
export function blendLatents(repainted: Float32Array, kept: Float32Array, mask: Float32Array): Float32Array {
  return repainted.map((value, i) => (mask[i % mask.length]! > 0 ? value : kept[i]!));
}

/**
 * The channels an inpainting UNet wants after the latents: the mask, and the latents of the picture with the hole grey.
 * Without picture or mask everything is hole: such a UNet then draws from the text alone.
 */
export async function encodeInpaintingInputs(
  model: DiffusionModel,
  width: number,
  height: number,
  image: Pixels | undefined,
  mask: Uint8Array | undefined,
): Promise<Float32Array | undefined> {
  if (!isInpaintingUnet(model)) return undefined;
  const holed = punchHole(image, mask, width, height);
  const latents = await encodePixels(model.vae, holed);
  const cells = latents.width * latents.height;
  const maskCells = image && mask ? shrinkMask(mask, width, height, model.vae.factor) : new Float32Array(cells).fill(1);
  const result = new Float32Array(cells + latents.data.length);
  result.set(maskCells);
  result.set(latents.data, cells);
  return result;
}

/** Grey is the middle of -1..1. */
const GREY = 128;

function punchHole(image: Pixels | undefined, mask: Uint8Array | undefined, width: number, height: number): Pixels {
  const rgb = new Uint8Array(width * height * 3).fill(GREY);
  if (image && mask) {
    for (let i = 0; i < width * height; i++) {
      if (mask[i]! < REPAINTED_FROM) rgb.set(image.rgb.subarray(i * 3, i * 3 + 3), i * 3);
    }
  }
  return { width, height, rgb };
}

/** Latents and the inpainting channels, side by side, as the UNet takes them. */
export function joinChannels(latents: Latents, extra: Float32Array | undefined): Latents {
  if (!extra) return latents;
  const data = new Float32Array(latents.data.length + extra.length);
  data.set(latents.data);
  data.set(extra, latents.data.length);
  return { ...latents, channels: data.length / (latents.width * latents.height), data };
}

/** Painted pixels where the mask is white, the input's own where it is black, a mixture between. */
export function compositePixels(painted: Pixels, original: Pixels, mask: Uint8Array): Pixels {
  const rgb = Uint8Array.from(painted.rgb);
  for (const [i, share] of mask.entries()) {
    for (let c = i * 3; c < i * 3 + 3; c++) {
      rgb[c] = Math.round((painted.rgb[c]! * share + original.rgb[c]! * (255 - share)) / 255);
    }
  }
  return { ...painted, rgb };
}
