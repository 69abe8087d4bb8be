/** Requests beyond the area a model draws well: the best smaller size of the same shape. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Sides are multiples of this many cells: UNets halve the latents several times, and odd sides cost quality. */
const CELLS_STEP = 2;
/** Smaller sides than this many steps hold no picture. */
const SMALLEST_SIDE_STEPS = 4;
/** How much a lost share of the area weighs against the same share of distortion. */
const AREA_WEIGHT = 0.25;

/** The size to draw at: the request itself if it fits into `nativeArea` pixels, else the largest one that fits and is hardly distorted. */
export function chooseDrawnSize(request: Size, nativeArea: number | undefined, factor: number): Size {
  if (nativeArea === undefined || request.width * request.height <= nativeArea) return request;
  const step = factor * CELLS_STEP;
  const shape = request.width / request.height;
  let best: Size = { width: step * SMALLEST_SIDE_STEPS, height: step * SMALLEST_SIDE_STEPS };
  let least = Number.POSITIVE_INFINITY;
  for (let width = step * SMALLEST_SIDE_STEPS; width <= request.width; width += step) {
    for (const height of nearestHeights(width / shape, step)) {
      const area = width * height;
      if (area > nativeArea || height > request.height || height < step * SMALLEST_SIDE_STEPS) continue;
      const cost = Math.abs(Math.log(width / height / shape)) + AREA_WEIGHT * Math.log(nativeArea / area);
      if (cost < least) {
        least = cost;
        best = { width, height };
      }
    }
  }
  return { width: Math.min(best.width, request.width), height: Math.min(best.height, request.height) };
}

/** For models that draw squares of one side only: the smallest canvas around such a square that has the request's shape. */
export function chooseCanvas(request: Size, side: number, factor: number): Size {
  const step = factor * CELLS_STEP;
  const along = (ratio: number) => Math.max(side, Math.round((side * ratio) / step) * step);
  return { width: along(request.width / request.height), height: along(request.height / request.width) };
}

function nearestHeights(height: number, step: number): number[] {
  return [Math.floor(height / step) * step, Math.ceil(height / step) * step];
}
