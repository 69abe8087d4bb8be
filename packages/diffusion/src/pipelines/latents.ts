/** Latents of one picture: [channels, height, width], in the scale the UNet sees. */
export interface Latents {
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  readonly data: Float32Array;
}

/** A rectangle of each channel; coordinates in cells. */
export function cropLatents(latents: Latents, left: number, top: number, width: number, height: number): Latents {
  const data = new Float32Array(latents.channels * width * height);
  for (let c = 0; c < latents.channels; c++) {
    for (let y = 0; y < height; y++) {
      const from = (c * latents.height + top + y) * latents.width + left;
      data.set(latents.data.subarray(from, from + width), (c * height + y) * width);
    }
  }
  return { channels: latents.channels, height, width, data };
}
