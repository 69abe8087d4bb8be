/**
 * Small previews: colours as a linear map of latents. The map is fitted once per VAE by decoding a checkerboard of random latents
 * and solving least squares, so it needs no table of known models.
 */
import { drawNoise } from "../random.js";
import type { VaePart } from "./diffusion-model.js";
import type { Latents } from "./latents.js";
import type { Pixels } from "./pixels.js";
import { decodeLatents } from "./vae.js";

/** (channels + 1) x 3: the last row is the constant. */
export type PreviewMap = Float64Array;

/** 5x5 squares of 2x2 cells: 25 samples for at most 17 unknowns, and only 80x80 pixels to decode. */
const SQUARES = 5;
const SQUARE_CELLS = 2;
const FIT_SEED = 20_231_115;
/** Keeps the fit defined where a VAE has more channels than there are samples. */
const RIDGE = 1e-3;

export async function fitPreviewMap(vae: VaePart): Promise<PreviewMap> {
  const side = SQUARES * SQUARE_CELLS;
  const samples = drawNoise(FIT_SEED, 0, vae.latentChannels * SQUARES * SQUARES);
  const data = new Float32Array(vae.latentChannels * side * side);
  const squareAt = (x: number, y: number) => Math.floor(y / SQUARE_CELLS) * SQUARES + Math.floor(x / SQUARE_CELLS);
  for (let c = 0; c < vae.latentChannels; c++) {
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        data[(c * side + y) * side + x] = samples[c * SQUARES * SQUARES + squareAt(x, y)]!;
      }
    }
  }
  const picture = await decodeLatents(vae, { channels: vae.latentChannels, width: side, height: side, data });
  const means = averageSquares(picture, SQUARE_CELLS * vae.factor);
  return fitLinearMap(samples, means, vae.latentChannels);
}

export function drawPreview(latents: Latents, map: PreviewMap): Pixels {
  const { width, height, channels } = latents;
  const area = width * height;
  const rgb = new Uint8Array(area * 3);
  for (let i = 0; i < area; i++) {
    for (let colour = 0; colour < 3; colour++) {
      let value = map[channels * 3 + colour]!;
      for (let c = 0; c < channels; c++) value += map[c * 3 + colour]! * latents.data[c * area + i]!;
      rgb[i * 3 + colour] = Math.min(255, Math.max(0, Math.round(value)));
    }
  }
  return { width, height, rgb };
}

function averageSquares(picture: Pixels, size: number): Float64Array {
  const means = new Float64Array(SQUARES * SQUARES * 3);
  for (let y = 0; y < picture.height; y++) {
    for (let x = 0; x < picture.width; x++) {
      const square = Math.floor(y / size) * SQUARES + Math.floor(x / size);
      for (let c = 0; c < 3; c++)
        means[square * 3 + c]! += picture.rgb[(y * picture.width + x) * 3 + c]! / (size * size);
    }
  }
  return means;
}

/** Ridge regression by the normal equations. */
function fitLinearMap(samples: Float32Array, means: Float64Array, channels: number): PreviewMap {
  const count = SQUARES * SQUARES;
  const size = channels + 1;
  const termOf = (unknown: number, sample: number) => (unknown === channels ? 1 : samples[unknown * count + sample]!);
  const rows = Array.from({ length: size }, (_, i) => {
    const row = new Float64Array(size + 3);
    for (let sample = 0; sample < count; sample++) {
      for (let j = 0; j < size; j++) row[j]! += termOf(i, sample) * termOf(j, sample);
      for (let c = 0; c < 3; c++) row[size + c]! += termOf(i, sample) * means[sample * 3 + c]!;
    }
    row[i]! += RIDGE * count;
    return row;
  });
  for (const [i, pivotRow] of rows.entries()) {
    const pivot = pivotRow[i]!;
    for (let k = i; k < size + 3; k++) pivotRow[k]! /= pivot;
    for (const [j, row] of rows.entries()) {
      const factor = j === i ? 0 : row[i]!;
      if (factor !== 0) for (let k = i; k < size + 3; k++) row[k]! -= factor * pivotRow[k]!;
    }
  }
  return Float64Array.from(rows.flatMap((row) => [...row.subarray(size)]));
}
