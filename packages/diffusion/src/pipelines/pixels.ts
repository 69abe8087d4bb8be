/** 8-bit RGB pixels, row by row, and their planes in -1..1 as nets see them. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** [3, height, width] in -1..1 */
export function toPlanes(pixels: Pixels): Float32Array {
  const area = pixels.width * pixels.height;
  const planes = new Float32Array(area * 3);
  for (let i = 0; i < area; i++) {
    for (let c = 0; c < 3; c++) planes[c * area + i] = pixels.rgb[i * 3 + c]! / 127.5 - 1;
  }
  return planes;
}

export function fromPlanes(planes: Float32Array, width: number, height: number): Pixels {
  const area = width * height;
  const rgb = new Uint8Array(area * 3);
  for (let i = 0; i < area; i++) {
    for (let c = 0; c < 3; c++) {
      const value = Math.round((planes[c * area + i]! + 1) * 127.5);
      // NaN becomes 0 as it is stored
      rgb[i * 3 + c] = Math.min(255, Math.max(0, value));
    }
  }
  return { width, height, rgb };
}
