/**
 * Requests larger than a model draws: inputs are shrunk to the drawn size, results enlarged. Enlarging is Lanczos for every model;
 * a model that brings a network for it (an "upscaler" component) would be run in enlargeImages.
 */
import { compositePixels, type Pixels, resizeMask, resizePixels } from "@kit/diffusion";
import type { EngineJob } from "./engine-api.js";

interface Size {
  readonly width: number;
  readonly height: number;
}

export interface ShrunkInputs {
  readonly image?: Pixels;
  readonly mask?: Uint8Array;
}

export function shrinkInputs(job: EngineJob, drawn: Size): ShrunkInputs {
  const same = drawn.width === job.width && drawn.height === job.height;
  return {
    ...(job.image ? { image: same ? job.image : resizePixels(job.image, drawn.width, drawn.height) } : {}),
    ...(job.mask ? { mask: same ? job.mask : resizeMask(job.mask, job, drawn) } : {}),
  };
}

/** Kept pixels are put back after enlarging, so they equal the input's whatever the drawn size was. */
export function enlargeImages(images: readonly Pixels[], job: EngineJob): Pixels[] {
  return images.map((image) => {
    if (image.width === job.width && image.height === job.height) return image;
    const enlarged = resizePixels(image, job.width, job.height);
    return job.image && job.mask ? compositePixels(enlarged, job.image, job.mask) : enlarged;
  });
}
