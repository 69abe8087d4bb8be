/**
 * Requests for other sizes than a model draws: inputs are brought to the drawn size, results to the size asked for, larger ones by the
 * model's own upscaler or by Lanczos.
 */
import {
  chooseCanvas,
  chooseDrawnSize,
  chooseTrainedSize,
  compositePixels,
  enlargePixels,
  type Pixels,
  resizeMask,
  resizePixels,
  type Size,
  type UpscalerPart,
} from "@kit/diffusion";
import type { EngineJob } from "./engine-api.js";

export interface SizePlan {
  /** what the model draws */
  readonly drawn: Size;
  /** what its edges are continued to; equal to `drawn` where nothing is to be continued */
  readonly canvas: Size;
}

export function planSizes(job: EngineJob, factor: number): SizePlan {
  const { trainedSizes, nativeArea } = job.model;
  // with a picture to start from there is nothing to stretch: it says where things are
  if (trainedSizes === undefined || job.image) {
    const drawn = chooseDrawnSize(job, nativeArea, factor);
    return { drawn, canvas: drawn };
  }
  const drawn = chooseTrainedSize(job, trainedSizes);
  return { drawn, canvas: chooseCanvas(job, drawn, trainedSizes, factor) };
}

export function isSameSize(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
}

/** What the user should know of it, if anything. */
export function describePlan(job: EngineJob, { drawn, canvas }: SizePlan): string[] {
  if (isSameSize(drawn, job)) return [];
  const continued = isSameSize(drawn, canvas) ? "" : ` with its edges continued to ${formatSize(canvas)}`;
  const change = canvas.width * canvas.height < job.width * job.height ? "enlarged" : "shrunk";
  const resized = isSameSize(canvas, job) ? "" : ` and ${change} to ${formatSize(job)}`;
  return [`drawn at ${formatSize(drawn)}, a size this model was trained on,${continued}${resized}`];
}

function formatSize({ width, height }: Size): string {
  return `${width}x${height}`;
}

export interface ShrunkInputs {
  readonly image?: Pixels;
  readonly mask?: Uint8Array;
}

export function shrinkInputs(job: EngineJob, drawn: Size): ShrunkInputs {
  const same = isSameSize(drawn, job);
  return {
    ...(job.image ? { image: same ? job.image : resizePixels(job.image, drawn.width, drawn.height) } : {}),
    ...(job.mask ? { mask: same ? job.mask : resizeMask(job.mask, job, drawn) } : {}),
  };
}

/** Kept pixels are put back after enlarging, so they equal the input's whatever the drawn size was. */
export async function resizeImages(
  images: readonly Pixels[],
  job: EngineJob,
  upscaler: UpscalerPart | undefined,
): Promise<Pixels[]> {
  const resized: Pixels[] = [];
  for (const image of images) {
    const large = await enlargePixels(image, job.width, job.height, upscaler);
    resized.push(job.image && job.mask ? compositePixels(large, job.image, job.mask) : large);
  }
  return resized;
}
