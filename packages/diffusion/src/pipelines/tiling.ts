/**
 * Large pictures through the VAE in overlapping tiles, so that memory does not grow with the picture. Neighbouring tiles are mixed
 * with weights that ramp linearly over the overlap; a tile's own statistics differ a little from the whole picture's, the ramp hides it.
 */
import { cropLatents, type Latents } from "./latents.js";

export interface Span {
  readonly from: number;
  readonly length: number;
}

/** Equal spans of at most `size` that cover `total` and overlap by at least `overlap`. */
export function coverWithSpans(total: number, size: number, overlap: number): Span[] {
  if (total <= size) return [{ from: 0, length: total }];
  const count = Math.ceil((total - overlap) / (size - overlap));
  return Array.from({ length: count }, (_, i) => ({
    from: Math.round((i * (total - size)) / (count - 1)),
    length: size,
  }));
}

export interface TilingOptions {
  /** side of a tile and overlap, in cells of the input */
  readonly size: number;
  readonly overlap: number;
  /** output cells per input cell: 8 for decoding, 1/8 for encoding */
  readonly scale: number;
  readonly outChannels: number;
}

export async function processInTiles(
  input: Latents,
  options: TilingOptions,
  process: (tile: Latents) => Promise<Float32Array>,
): Promise<Latents> {
  const { size, overlap, scale, outChannels } = options;
  const width = Math.round(input.width * scale);
  const height = Math.round(input.height * scale);
  const sum = new Float32Array(outChannels * width * height);
  const weight = new Float32Array(width * height);
  for (const row of coverWithSpans(input.height, size, overlap)) {
    for (const column of coverWithSpans(input.width, size, overlap)) {
      const tile = cropLatents(input, column.from, row.from, column.length, row.length);
      const result = await process(tile);
      const place = {
        left: Math.round(column.from * scale),
        top: Math.round(row.from * scale),
        width: Math.round(column.length * scale),
        height: Math.round(row.length * scale),
      };
      addTile({ sum, weight, width, height, outChannels }, result, place, Math.round(overlap * scale));
    }
  }
  for (let c = 0; c < outChannels; c++) {
    for (let i = 0; i < weight.length; i++) sum[c * weight.length + i]! /= weight[i]!;
  }
  return { channels: outChannels, width, height, data: sum };
}

interface Canvas {
  readonly sum: Float32Array;
  readonly weight: Float32Array;
  readonly width: number;
  readonly height: number;
  readonly outChannels: number;
}

interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

function addTile(canvas: Canvas, tile: Float32Array, place: Place, overlap: number): void {
  const across = ramp(place.width, overlap, place.left > 0, place.left + place.width < canvas.width);
  const down = ramp(place.height, overlap, place.top > 0, place.top + place.height < canvas.height);
  for (let y = 0; y < place.height; y++) {
    for (let x = 0; x < place.width; x++) {
      const share = across[x]! * down[y]!;
      const at = (place.top + y) * canvas.width + place.left + x;
      canvas.weight[at]! += share;
      for (let c = 0; c < canvas.outChannels; c++) {
        canvas.sum[c * canvas.width * canvas.height + at]! += share * tile[(c * place.height + y) * place.width + x]!;
      }
    }
  }
}

/** 1 inside, falling towards those ends that have a neighbour; never 0, so that every cell has some weight. */
function ramp(length: number, overlap: number, hasBefore: boolean, hasAfter: boolean): Float32Array {
  return Float32Array.from({ length }, (_, i) => {
    const rise = hasBefore ? Math.min(1, (i + 0.5) / overlap) : 1;
    const fall = hasAfter ? Math.min(1, (length - i - 0.5) / overlap) : 1;
    return rise * fall;
  });
}
