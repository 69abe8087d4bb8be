import { describe, expect, it } from "vitest";
import { drawNoise, philox } from "./random.js";

describe("seeded noise", () => {
  it("uses Philox 4x32-10 (known answers of its authors' test vectors)", () => {
    const words = new Uint32Array(4);
    philox(words, 0, 0, 0, 0);
    expect([...words].map((word) => word.toString(16))).toEqual(["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]);
  });

  it("is what it was: the first values of some seeds never change", () => {
    expect([...drawNoise(0, 0, 5)]).toMatchSnapshot();
    expect([...drawNoise(1234, 0, 5)]).toMatchSnapshot();
    expect([...drawNoise(Number.MAX_SAFE_INTEGER, 17, 5)]).toMatchSnapshot();
  });

  it("agrees with Math.log and Math.cos to rounding", () => {
    const words = new Uint32Array(4);
    const values = drawNoise(99, 3, 4000);
    for (let block = 0; block < 1000; block++) {
      philox(words, block, 3, 99, 0);
      const radius = Math.sqrt(-2 * Math.log((words[0]! + 0.5) / 2 ** 32));
      expect(values[block * 4]).toBeCloseTo(radius * Math.cos((2 * Math.PI * words[1]!) / 2 ** 32), 6);
      expect(values[block * 4 + 1]).toBeCloseTo(radius * Math.sin((2 * Math.PI * words[1]!) / 2 ** 32), 6);
    }
  });

  it("is normally distributed", () => {
    const values = drawNoise(7, 0, 200_000);
    const moment = (power: number) => values.reduce((sum, value) => sum + value ** power, 0) / values.length;
    expect(moment(1)).toBeCloseTo(0, 1);
    expect(moment(2)).toBeCloseTo(1, 1);
    expect(moment(3)).toBeCloseTo(0, 1);
    expect(Math.abs(moment(4) - 3)).toBeLessThan(0.06);
  });

  it("keeps streams and neighbouring seeds apart", () => {
    const correlation = (a: Float32Array, b: Float32Array) =>
      a.reduce((sum, value, i) => sum + value * b[i]!, 0) / a.length;
    const base = drawNoise(41, 0, 20_000);
    expect(Math.abs(correlation(base, drawNoise(42, 0, 20_000)))).toBeLessThan(0.03);
    expect(Math.abs(correlation(base, drawNoise(41, 16, 20_000)))).toBeLessThan(0.03);
    expect(Math.abs(correlation(base, drawNoise(41 + 2 ** 32, 0, 20_000)))).toBeLessThan(0.03);
    expect([...drawNoise(41, 0, 10)]).toEqual([...base.slice(0, 10)]);
  });

  it("refuses seeds that are no 53-bit integers", () => {
    for (const seed of [-1, 0.5, 2 ** 53, Number.NaN]) expect(() => drawNoise(seed, 0, 1)).toThrow("seed");
  });
});
