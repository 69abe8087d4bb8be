/** Requests beyond the area a model draws well: the best smaller size of the same shape. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Sides are multiples of this many cells: UNets halve the latents several times. */
const CELLS_STEP = 4;
const SMALLEST_SIDE_STEPS = 2;

/** The size to draw at: the request itself if it fits into `nativeArea` pixels. */
export function chooseDrawnSize(request: Size, nativeArea: number | undefined, factor: number): Size {
  if (nativeArea === undefined || request.width * request.height <= nativeArea) return request;
  const step = factor * CELLS_STEP;
  const scale = Math.sqrt(nativeArea / (request.width * request.height));
  const fit = (size: number) => Math.max(SMALLEST_SIDE_STEPS * step, Math.round((size * scale) / step) * step);
  return { width: Math.min(request.width, fit(request.width)), height: Math.min(request.height, fit(request.height)) };
}
