import { describe, expect, it } from "vitest";
import { createDdim } from "../schedulers/ddim.js";
import { spreadEdges } from "./continue-edges.js";
import { denoise } from "./denoise.js";
import type { VaePart } from "./diffusion-model.js";
import { countImageSteps } from "./generate-images.js";
import { blendLatents, compositePixels, shrinkMask } from "./inpainting.js";
import type { Latents } from "./latents.js";
import { chooseCanvas, chooseDrawnSize, chooseTrainedSize } from "./native-size.js";
import { fromPlanes, toPlanes } from "./pixels.js";
import { drawPreview, fitPreviewMap } from "./preview.js";
import { resizeMask, resizePixels } from "./resize-pixels.js";
import { floats, type Session } from "./session.js";
import { coverWithSpans, processInTiles } from "./tiling.js";
import { decodeLatents, encodePixels } from "./vae.js";

const ramp = (channels: number, width: number, height: number): Latents => ({
  channels,
  width,
  height,
  data: Float32Array.from({ length: channels * width * height }, (_, i) => Math.sin(i / 50)),
});

describe("tiles", () => {
  it.each([
    [64, 64, 16],
    [65, 64, 16],
    [256, 64, 16],
    [130, 64, 16],
  ])("cover %d cells with overlaps", (total, size, overlap) => {
    const spans = coverWithSpans(total, size, overlap);
    expect(spans[0]!.from).toBe(0);
    expect(spans.at(-1)!.from + spans.at(-1)!.length).toBe(total);
    for (const [i, span] of spans.slice(1).entries()) {
      expect(spans[i]!.from + spans[i]!.length - span.from).toBeGreaterThanOrEqual(overlap);
    }
  });

  it("leave no trace where the work does not depend on the neighbourhood", async () => {
    const input = ramp(2, 70, 41);
    const options = { size: 32, overlap: 8, scale: 1, outChannels: 2 };
    const result = await processInTiles(input, options, async (tile) => tile.data.map((value) => value * 2));
    for (const [i, value] of result.data.entries()) expect(value).toBeCloseTo(input.data[i]! * 2, 5);
  });

  it("scale up", async () => {
    const input = ramp(1, 40, 40);
    const double = async ({ width, height, data }: Latents) =>
      Float32Array.from({ length: width * height * 4 }, (_, i) => {
        const [x, y] = [i % (width * 2), Math.floor(i / (width * 2))];
        return data[Math.floor(y / 2) * width + Math.floor(x / 2)]!;
      });
    const result = await processInTiles(input, { size: 16, overlap: 4, scale: 2, outChannels: 1 }, double);
    expect([result.width, result.height]).toEqual([80, 80]);
    expect(result.data[79 * 80 + 79]).toBeCloseTo(input.data[39 * 40 + 39]!, 5);
    expect(result.data[33 * 80 + 21]).toBeCloseTo(input.data[16 * 40 + 10]!, 5);
  });
});

describe("pixels", () => {
  it("survive the way to planes and back", () => {
    const rgb = Uint8Array.from({ length: 4 * 3 * 3 }, (_, i) => i * 7);
    const pixels = { width: 4, height: 3, rgb };
    expect(fromPlanes(toPlanes(pixels), 4, 3)).toEqual(pixels);
    expect([...fromPlanes(Float32Array.of(-5, 5, Number.NaN), 1, 1).rgb]).toEqual([0, 255, 0]);
  });

  it("are resized without shifting: flat stays flat, a ramp stays a ramp, the same size stays equal", () => {
    const flat = { width: 5, height: 7, rgb: new Uint8Array(5 * 7 * 3).fill(77) };
    expect(resizePixels(flat, 23, 9).rgb.every((value) => value === 77)).toBe(true);
    expect(resizePixels(flat, 2, 3).rgb.every((value) => value === 77)).toBe(true);
    const slope = { width: 32, height: 1, rgb: Uint8Array.from({ length: 96 }, (_, i) => Math.floor(i / 3) * 8) };
    expect(resizePixels(slope, 32, 1)).toEqual(slope);
    const enlarged = resizePixels(slope, 64, 1);
    for (let x = 10; x < 54; x++)
      expect(Math.abs(enlarged.rgb[x * 3]! - ((x + 0.5) / 2 - 0.5) * 8)).toBeLessThanOrEqual(1);
    const mask = Uint8Array.of(255, 255, 0, 0);
    expect([...resizeMask(mask, { width: 4, height: 1 }, { width: 2, height: 1 })][0]).toBeGreaterThan(200);
  });
});

describe("masks", () => {
  it("cover every cell that has a repainted pixel", () => {
    const mask = new Uint8Array(16 * 16);
    mask[5 * 16 + 9] = 255;
    expect([...shrinkMask(mask, 16, 16, 8)]).toEqual([0, 1, 0, 0]);
  });

  it("keep latents and pixels exactly", () => {
    const kept = Float32Array.of(1, 2, 3, 4);
    const painted = Float32Array.of(9, 8, 7, 6);
    expect([...blendLatents(painted, kept, Float32Array.of(0, 1))]).toEqual([1, 8, 3, 6]);
    const picture = (value: number) => ({ width: 3, height: 1, rgb: new Uint8Array(9).fill(value) });
    const result = compositePixels(picture(200), picture(100), Uint8Array.of(0, 255, 51));
    expect([...result.rgb]).toEqual([100, 100, 100, 200, 200, 200, 120, 120, 120]);
  });
});

describe("sizes and steps", () => {
  it("draws what fits as it is, and larger requests in the same shape", () => {
    expect(chooseDrawnSize({ width: 512, height: 512 }, undefined, 8)).toEqual({ width: 512, height: 512 });
    expect(chooseDrawnSize({ width: 256, height: 128 }, 256 * 256, 8)).toEqual({ width: 256, height: 128 });
    expect(chooseDrawnSize({ width: 1024, height: 1024 }, 256 * 256, 8)).toEqual({ width: 256, height: 256 });
    expect(chooseDrawnSize({ width: 2048, height: 512 }, 256 * 256, 8)).toEqual({ width: 512, height: 128 });
    expect(chooseDrawnSize({ width: 2048, height: 64 }, 256 * 256, 8).height).toBeLessThanOrEqual(64);
  });

  it("never exceeds the native area and hardly distorts", () => {
    for (const [width, height] of [
      [768, 512],
      [1024, 768],
      [1920, 1080],
      [512, 1536],
      [1000, 520],
      [2048, 2048],
    ] as const) {
      const drawn = chooseDrawnSize({ width, height }, 256 * 256, 8);
      expect(drawn.width * drawn.height).toBeLessThanOrEqual(256 * 256);
      expect(drawn.width * drawn.height).toBeGreaterThan(256 * 256 * 0.75);
      expect(Math.abs(Math.log(drawn.width / drawn.height / (width / height)))).toBeLessThan(0.05);
    }
  });

  it("counts image steps", () => {
    expect([0, 0.01, 0.5, 0.75, 1].map((strength) => countImageSteps(10, strength))).toEqual([0, 1, 5, 7, 10]);
    expect(countImageSteps(100, 0.29)).toBe(29);
  });
});

/** A VAE that is linear by construction: each cell becomes 2x2 pixels of a colour mixed from two channels. */
function createLinearVae(): VaePart {
  const decoder: Session = {
    async run(feeds) {
      const { dims, data } = feeds["latents"] as { dims: readonly number[]; data: Float32Array };
      const [, , height, width] = dims as [number, number, number, number];
      const sample = new Float32Array(3 * height * width * 4);
      for (let y = 0; y < height * 2; y++) {
        for (let x = 0; x < width * 2; x++) {
          const cell = (y >> 1) * width + (x >> 1);
          const [a, b] = [data[cell]!, data[height * width + cell]!];
          const colours = [0.1 * a, -0.2 * b + 0.1, 0.1 * a + 0.1 * b];
          for (const [c, value] of colours.entries()) sample[(c * height * 2 + y) * width * 2 + x] = value;
        }
      }
      return { sample: floats([1, 3, height * 2, width * 2], sample) };
    },
  };
  const encoder: Session = {
    async run(feeds) {
      const { dims } = feeds["sample"]!;
      const [height, width] = [dims[2]! / 2, dims[3]! / 2];
      return { mean: floats([1, 2, height, width], new Float32Array(2 * height * width).fill(0.5)) };
    },
  };
  return {
    latentChannels: 2,
    factor: 2,
    scalingFactor: 0.5,
    shiftFactor: 0.25,
    openDecoder: async () => decoder,
    openEncoder: async () => encoder,
  };
}

describe("sizes of models that know only some", () => {
  const trained = { side: 256, least: 192, most: 384, ratio: 1.5, area: 320 * 320, step: 32 };

  it("are drawn as asked for where the model was trained on their like", () => {
    for (const [width, height] of [
      [256, 256],
      [384, 256],
      [224, 288],
      [192, 192],
      [320, 320],
    ] as const) {
      expect(chooseTrainedSize({ width, height }, trained)).toEqual({ width, height });
    }
  });

  it("are otherwise drawn in the nearest trained shape, hardly distorted, near the best side", () => {
    const choose = (width: number, height: number) => chooseTrainedSize({ width, height }, trained);
    expect(choose(512, 512)).toEqual({ width: 256, height: 256 });
    expect(choose(64, 64)).toEqual({ width: 256, height: 256 });
    expect(choose(768, 512)).toEqual({ width: 384, height: 256 });
    expect(choose(384, 384)).toEqual({ width: 256, height: 256 });
    for (let width = 512; width <= 768; width += 8) {
      const drawn = choose(width, 512);
      expect(Math.abs(Math.log(drawn.width / drawn.height / (width / 512)))).toBeLessThan(0.06);
      expect(choose(512, width)).toEqual({ width: drawn.height, height: drawn.width });
    }
  });

  it("get a canvas around them where the shape is beyond the trained ones", () => {
    const canvas = (width: number, height: number) =>
      chooseCanvas({ width, height }, chooseTrainedSize({ width, height }, trained), trained, 8);
    expect(canvas(1024, 512)).toEqual({ width: 512, height: 256 });
    expect(canvas(256, 1024)).toEqual({ width: 256, height: 1024 });
    expect(canvas(768, 512)).toEqual({ width: 384, height: 256 });
    expect(canvas(1040, 1024)).toEqual({ width: 256, height: 256 });
  });

  it("repeat the outermost pixels and mask what is new, with a seam", () => {
    const rgb = Uint8Array.from({ length: 32 * 32 * 3 }, (_, i) => Math.floor(i / 3) % 32);
    const { image, mask } = spreadEdges({ width: 32, height: 32, rgb }, { width: 64, height: 32 });
    const reds = Array.from({ length: 64 }, (_, x) => image.rgb[x * 3]);
    expect(reds).toEqual([...Array(16).fill(0), ...Array(32).keys(), ...Array(16).fill(31)]);
    expect([...mask.subarray(0, 16)]).toEqual(Array(16).fill(255));
    expect([...mask.subarray(16 + 8, 48 - 8)]).toEqual(Array(16).fill(0));
    expect(mask[16 + 4]).toBe(128);
    expect([...mask.subarray(48, 64)]).toEqual(Array(16).fill(255));
  });
});

describe("the VAE's scale", () => {
  it("is undone before decoding and applied after encoding", async () => {
    const vae = createLinearVae();
    const data = Float32Array.of(0.5, -0.5);
    const picture = await decodeLatents(vae, { channels: 2, width: 1, height: 1, data });
    expect(picture.rgb[0]).toBe(Math.round((0.1 * (0.5 / 0.5 + 0.25) + 1) * 127.5));
    const latents = await encodePixels(vae, { width: 2, height: 2, rgb: new Uint8Array(12) });
    expect(latents.data[0]).toBeCloseTo((0.5 - 0.25) * 0.5);
  });

  it("previews show what a linear VAE decodes", async () => {
    const vae = createLinearVae();
    const map = await fitPreviewMap(vae);
    const latents = {
      channels: 2,
      width: 4,
      height: 3,
      data: Float32Array.from({ length: 24 }, (_, i) => Math.cos(i)),
    };
    const preview = drawPreview(latents, map);
    const decoded = await decodeLatents(vae, latents);
    for (let y = 0; y < 3; y++) {
      for (let x = 0; x < 4; x++) {
        const exact = decoded.rgb[(y * 2 * 8 + x * 2) * 3]!;
        expect(Math.abs(preview.rgb[(y * 4 + x) * 3]! - exact)).toBeLessThanOrEqual(2);
      }
    }
  });
});

describe("the loop", () => {
  it("ends when a step's report throws", async () => {
    const schedule = createDdim({ clip_sample: false }).createSchedule(10);
    let calls = 0;
    const run = denoise({
      schedule,
      predictor: {
        async predict(input) {
          calls++;
          return input.data;
        },
      },
      channels: 1,
      height: 4,
      width: 4,
      seed: 1,
      firstStep: 0,
      fromPureNoise: false,
      onStep: ({ step }) => {
        if (step === 3) throw new Error("enough");
      },
    });
    await expect(run).rejects.toThrow("enough");
    expect(calls).toBe(3);
  });

  it("keeps unmasked cells at the picture's own latents", async () => {
    const schedule = createDdim({ clip_sample: false }).createSchedule(4);
    const imageLatents = Float32Array.from({ length: 16 }, (_, i) => i / 16);
    const maskCells = Float32Array.from({ length: 16 }, (_, i) => (i < 4 ? 1 : 0));
    const result = await denoise({
      schedule,
      predictor: { predict: async (input) => input.data.map((value) => value * 0.5) },
      channels: 1,
      height: 4,
      width: 4,
      seed: 1,
      firstStep: 1,
      imageLatents,
      maskCells,
      fromPureNoise: false,
    });
    expect([...result.data.slice(4)]).toEqual([...imageLatents.slice(4)]);
    expect(result.data[0]).not.toBe(imageLatents[0]);
  });
});
