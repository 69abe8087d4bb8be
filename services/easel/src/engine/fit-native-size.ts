/** Requests larger than a model draws: inputs are shrunk to the drawn size, results enlarged by the model's own upscaler or by Lanczos. */
import {
  compositePixels,
  enlargePixels,
  type Pixels,
  resizeMask,
  resizePixels,
  type UpscalerPart,
} from "@kit/diffusion";
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
export async function enlargeImages(
  images: readonly Pixels[],
  job: EngineJob,
  upscaler: UpscalerPart | undefined,
): Promise<Pixels[]> {
  const enlarged: Pixels[] = [];
  for (const image of images) {
    const large = await enlargePixels(image, job.width, job.height, upscaler);
    enlarged.push(job.image && job.mask ? compositePixels(large, job.image, job.mask) : large);
  }
  return enlarged;
}
