/** Lanczos resampling in plain TypeScript: the engine process enlarges pictures it had to draw smaller, and shrinks their inputs. */
import type { Pixels } from "./pixels.js";

const LOBES = 3;

interface Taps {
  readonly from: number;
  readonly weights: Float64Array;
}

export function resizePixels(pixels: Pixels, width: number, height: number): Pixels {
  const rgb = resizePlanes(pixels.rgb, 3, pixels, { width, height });
  return { width, height, rgb };
}

/** One byte a pixel. */
export function resizeMask(
  mask: Uint8Array,
  from: { readonly width: number; readonly height: number },
  to: { readonly width: number; readonly height: number },
): Uint8Array {
  return resizePlanes(mask, 1, from, to);
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Rows first, then columns; the middle stays in floats, so only the end is rounded. */
function resizePlanes(bytes: Uint8Array, channels: number, from: Size, to: Size): Uint8Array {
  const across = computeTaps(from.width, to.width);
  const down = computeTaps(from.height, to.height);
  const middle = new Float32Array(to.width * from.height * channels);
  for (let y = 0; y < from.height; y++) {
    for (let x = 0; x < to.width; x++) {
      const taps = across[x]!;
      for (let c = 0; c < channels; c++) {
        let sum = 0;
        for (let k = 0; k < taps.weights.length; k++) {
          sum += taps.weights[k]! * bytes[(y * from.width + taps.from + k) * channels + c]!;
        }
        middle[(y * to.width + x) * channels + c] = sum;
      }
    }
  }
  const result = new Uint8Array(to.width * to.height * channels);
  const rowLength = to.width * channels;
  const row = new Float64Array(rowLength);
  for (let y = 0; y < to.height; y++) {
    const taps = down[y]!;
    row.fill(0);
    for (let k = 0; k < taps.weights.length; k++) {
      const weight = taps.weights[k]!;
      const start = (taps.from + k) * rowLength;
      for (let i = 0; i < rowLength; i++) row[i]! += weight * middle[start + i]!;
    }
    for (let i = 0; i < rowLength; i++) {
      const value = Math.round(row[i]!);
      result[y * rowLength + i] = Math.min(255, Math.max(0, value));
    }
  }
  return result;
}

/** For every target position: the first source position and the normalised weights from there. Shrinking widens the kernel. */
function computeTaps(from: number, to: number): Taps[] {
  const stretch = Math.max(1, from / to);
  const reach = LOBES * stretch;
  return Array.from({ length: to }, (_, i) => {
    const centre = ((i + 0.5) * from) / to - 0.5;
    const first = Math.max(0, Math.ceil(centre - reach));
    const last = Math.min(from - 1, Math.floor(centre + reach));
    const weights = Float64Array.from({ length: last - first + 1 }, (_, k) => lanczos((first + k - centre) / stretch));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return { from: first, weights: weights.map((weight) => weight / sum) };
  });
}

function lanczos(x: number): number {
  if (x === 0) return 1;
  if (Math.abs(x) >= LOBES) return 0;
  const angle = Math.PI * x;
  return (LOBES * Math.sin(angle) * Math.sin(angle / LOBES)) / (angle * angle);
}
