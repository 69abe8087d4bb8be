/** Requests beyond what a model draws well: the best size of its own for the same shape. */
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

/** Sizes that a small model was trained on. Outside them it stretches things or draws them twice. */
export interface TrainedSizes {
  /** shorter side of the sizes it draws best */
  readonly side: number;
  readonly least: number;
  readonly most: number;
  /** longer side by shorter side, at most */
  readonly ratio: number;
  readonly area: number;
  /** sides are multiples of this */
  readonly step: number;
}

/** The request itself where the model was trained on its like, else the trained size that comes nearest to its shape. */
export function chooseTrainedSize(request: Size, trained: TrainedSizes): Size {
  const sizes = listTrainedSizes(trained);
  const exact = sizes.find(({ width, height }) => width === request.width && height === request.height);
  if (exact) return exact;
  const shape = clamp(request.width / request.height, 1 / trained.ratio, trained.ratio);
  const cost = ({ width, height }: Size) =>
    Math.abs(Math.log(width / height / shape)) +
    AREA_WEIGHT * Math.abs(Math.log(Math.min(width, height) / trained.side));
  return sizes.reduce((best, size) => (cost(size) < cost(best) ? size : best));
}

function listTrainedSizes({ least, most, ratio, area, step }: TrainedSizes): Size[] {
  const sides = Array.from({ length: Math.floor((most - least) / step) + 1 }, (_, i) => least + i * step);
  return sides
    .flatMap((width) => sides.map((height) => ({ width, height })))
    .filter(({ width, height }) => Math.max(width / height, height / width) <= ratio && width * height <= area);
}

/** For shapes beyond the trained ones: the smallest canvas around what is drawn that has the request's shape. */
export function chooseCanvas(request: Size, drawn: Size, trained: TrainedSizes, factor: number): Size {
  const shape = request.width / request.height;
  if (Math.max(shape, 1 / shape) <= trained.ratio) return drawn;
  const step = factor * CELLS_STEP;
  const along = (side: number, other: number) => Math.max(side, Math.round(other / step) * step);
  return {
    width: along(drawn.width, drawn.height * shape),
    height: along(drawn.height, drawn.width / shape),
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

function nearestHeights(height: number, step: number): number[] {
  return [Math.floor(height / step) * step, Math.ceil(height / step) * step];
}
