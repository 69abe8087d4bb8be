import { bfloatsToFloats, halvesToFloats } from "@kit/tensor-files";
import { describe, expect, it } from "vitest";
import { roundWeights } from "./int8-weights.js";

/** The definition, number by number. */
function roundOneByOne([outputs, inputs, taps]: readonly [number, number, number], floats: Float32Array) {
  const weights = new Int8Array(floats.length);
  const scales = new Float32Array(outputs);
  for (let output = 0; output < outputs; output++) {
    const row = floats.subarray(output * inputs * taps, (output + 1) * inputs * taps);
    const scale = Math.fround(row.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127);
    scales[output] = scale;
    for (let input = 0; input < inputs; input++) {
      for (let tap = 0; tap < taps; tap++) {
        const quotient = Math.fround(row[input * taps + tap]! / scale);
        weights[(tap * inputs + input) * outputs + output] = roundToEven(Math.min(127, Math.max(-127, quotient)));
      }
    }
  }
  return { weights, scales };
}

function roundToEven(value: number): number {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}

function roundAll(shape: readonly [number, number, number], type: "F32" | "F16" | "BF16", stored: Uint8Array) {
  const size = type === "F32" ? 4 : 2;
  const readStored = (from: number, bytes: Uint8Array) =>
    bytes.set(stored.subarray(from * size, from * size + bytes.length));
  const { weights, scales } = roundWeights(shape, { type, readStored });
  return { weights: new Int8Array(weights), scales: new Float32Array(scales.slice().buffer) };
}

const bytesOf = (array: Uint16Array | Float32Array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

describe("weights as bytes", () => {
  it.each([
    [16, 16, 1],
    [80, 32, 9],
    [144, 48, 4],
  ] as const)("are the nearest multiples of a scale for each output: %i x %i x %i", (...shape) => {
    const count = shape[0] * shape[1] * shape[2];
    // finite halves, small and large, also without a leading one
    const halves = Uint16Array.from({ length: count }, (_, i) => Math.imul(i + 1, 40503) & 0xbbff);
    const floats = halvesToFloats(halves);
    expect(roundAll(shape, "F16", bytesOf(halves))).toEqual(roundOneByOne(shape, floats));
    expect(roundAll(shape, "F32", bytesOf(floats))).toEqual(roundOneByOne(shape, floats));
    const bfloats = Uint16Array.from({ length: count }, (_, i) => 0x3c00 + (Math.imul(i + 1, 40503) & 0x83ff));
    expect(roundAll(shape, "BF16", bytesOf(bfloats))).toEqual(roundOneByOne(shape, bfloatsToFloats(bfloats)));
  });

  it("are zeros where all of an output's are", () => {
    const floats = new Float32Array(16 * 16).fill(0.5, 16);
    const { weights, scales } = roundAll([16, 16, 1], "F32", bytesOf(floats));
    expect(scales[0]).toBe(0);
    expect(weights.filter((_, i) => i % 16 === 0)).toEqual(new Int8Array(16));
    expect(weights.filter((_, i) => i % 16 === 1)).toEqual(new Int8Array(16).fill(127));
  });
});
