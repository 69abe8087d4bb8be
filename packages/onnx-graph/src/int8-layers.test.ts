import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  countElements,
  openSafetensors,
  sourceOf,
  type TensorSource,
  tensorFromFloats,
  writeSafetensors,
} from "@kit/tensor-files";
import fc from "fast-check";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { computeWeights } from "./compute-weights.js";
import { type BuiltGraph, GraphBuilder, type Value } from "./graph-builder.js";
import type { GraphOptions } from "./graph-options.js";
import { conv2d, doublingConv2d, linear } from "./layers.js";
import { recommendedSessionOptions } from "./session-options.js";

const INT8: GraphOptions = { target: "cpu", compute: "fp32", weights: "fold", int8: true };
const FLOAT32: GraphOptions = { ...INT8, int8: false };

function build(
  source: TensorSource,
  shape: readonly number[],
  layer: (g: GraphBuilder, x: Value) => Value,
  options: GraphOptions = INT8,
): BuiltGraph {
  const g = new GraphBuilder("net", source, options);
  const y = layer(
    g,
    g.input(
      "x",
      "float32",
      shape.map((_, axis) => `d${axis}`),
    ),
  );
  g.output(
    "y",
    y,
    shape.map((_, axis) => `e${axis}`),
  );
  return g.build();
}

async function run(graph: BuiltGraph, x: Float32Array, shape: readonly number[], options = INT8): Promise<Tensor> {
  const session = await InferenceSession.create(graph.proto, recommendedSessionOptions(graph, options, 1));
  const { y } = await session.run({ x: new Tensor("float32", x, shape) });
  await session.release();
  return y as Tensor;
}

/** Uneven numbers around a mean that is not 0: what rounds to a zero point in the middle, and weights whose sums do not cancel. */
function uneven(count: number, seed: number, mean = 0.3): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => mean + Math.sin((i + 1) * 12.9898 + seed * 78.233));
}

const weightsOf = (shape: readonly number[], seed: number) => [
  tensorFromFloats("layer.weight", shape, uneven(countElements(shape), seed)),
  tensorFromFloats("layer.bias", [shape[0]!], uneven(shape[0]!, seed + 1)),
];

/** The kernels of processors without VNNI add pairs of products in 16 bits, where the largest overflow. The engine does not use them; numbers cannot be compared there. */
async function addsExactly(): Promise<boolean> {
  const ones = [tensorFromFloats("layer.weight", [16, 32], new Float32Array(512).fill(1))];
  const graph = build(sourceOf("memory", ones), [1, 1, 32], (g, x) => linear(g, x, "layer", 32, 16, { bias: false }));
  const { data } = await run(graph, new Float32Array(32).fill(1), [1, 1, 32]);
  return (data as Float32Array).every((sum) => Math.abs(sum - 32) < 0.01);
}

const exact = await addsExactly();
if (!exact) console.log("int8-layers.test: numbers are not compared, this processor's integer kernels overflow");

/** A convolution in doubles, and how far each of its numbers may be off when every factor is rounded: what fails if anything but rounding differs. */
function convolve(
  x: Float32Array,
  [batch, inputs, height, width]: readonly [number, number, number, number],
  weight: Float32Array,
  bias: Float32Array,
  { kernel, stride, padding }: { readonly kernel: number; readonly stride: number; readonly padding: number },
) {
  const outputs = bias.length;
  const rows = Math.floor((height + 2 * padding - kernel) / stride) + 1;
  const columns = Math.floor((width + 2 * padding - kernel) / stride) + 1;
  // a byte's step; a number at the end of the range may be off by a whole one, as the zero point is rounded too
  const stepX = (Math.max(0, ...x) - Math.min(0, ...x)) / 255;
  const size = inputs * kernel * kernel;
  const values: number[] = [];
  const bounds: number[] = [];
  for (let n = 0; n < batch; n++) {
    for (let o = 0; o < outputs; o++) {
      const filter = weight.subarray(o * size, (o + 1) * size);
      const halfStep = filter.reduce((most, w) => Math.max(most, Math.abs(w)), 0) / 254;
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          let value = bias[o]!;
          let bound = 1e-4;
          for (let i = 0; i < inputs; i++) {
            for (let tap = 0; tap < kernel * kernel; tap++) {
              const y = row * stride - padding + Math.floor(tap / kernel);
              const z = column * stride - padding + (tap % kernel);
              if (y < 0 || z < 0 || y >= height || z >= width) continue;
              const number = x[((n * inputs + i) * height + y) * width + z]!;
              const w = filter[i * kernel * kernel + tap]!;
              value += number * w;
              bound += Math.abs(w) * stepX + (Math.abs(number) + stepX) * halfStep;
            }
          }
          values.push(value);
          bounds.push(bound);
        }
      }
    }
  }
  return { values, bounds, dims: [batch, outputs, rows, columns] };
}

const anyConvolution = fc.record({
  batch: fc.integer({ min: 1, max: 2 }),
  inputs: fc.constantFrom(16, 32, 48),
  outputs: fc.constantFrom(16, 80),
  height: fc.integer({ min: 3, max: 9 }),
  width: fc.integer({ min: 3, max: 9 }),
  kernel: fc.constantFrom(1, 3),
  stride: fc.constantFrom(1, 2),
  padding: fc.constantFrom(0, 1),
  seed: fc.integer({ min: 1, max: 1000 }),
});

describe.skipIf(!exact)("layers as products of bytes", () => {
  it("a convolution of a doubled picture, corner by corner, stays within a few hundredths of the float32 one", async () => {
    const shape = [2, 32, 5, 3];
    const source = sourceOf("memory", weightsOf([16, 32, 3, 3], 1));
    const layer = (g: GraphBuilder, x: Value) => doublingConv2d(g, x, "layer", 32, 16);
    const x = uneven(countElements(shape), 3);
    const rounded = await run(build(source, shape, layer), x, shape);
    const plain = await run(build(source, shape, layer, FLOAT32), x, shape, FLOAT32);
    expect(rounded.dims).toEqual([2, 16, 10, 6]);
    expect(plain.dims).toEqual(rounded.dims);
    const [found, expected] = [rounded.data as Float32Array, plain.data as Float32Array];
    const mean = expected.reduce((sum, value) => sum + value, 0) / expected.length;
    const spread = expected.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const error = found.reduce((sum, value, i) => sum + (value - expected[i]!) ** 2, 0);
    expect(Math.sqrt(error / spread)).toBeLessThan(0.03);
  });

  it("convolutions differ from exact ones by rounding only, whatever their size, stride, padding and batch", async () => {
    await fc.assert(
      fc.asyncProperty(anyConvolution, async ({ batch, inputs, outputs, height, width, seed, ...options }) => {
        const [weight, bias] = weightsOf([outputs, inputs, options.kernel, options.kernel], seed);
        const shape = [batch, inputs, height, width] as const;
        const x = uneven(countElements(shape), seed + 2);
        const source = sourceOf("memory", [weight!, bias!]);
        const y = await run(
          build(source, shape, (g, v) => conv2d(g, v, "layer", inputs, outputs, options)),
          x,
          shape,
        );
        const floats = [weight!, bias!].map(
          ({ data }) => new Float32Array(data.buffer, data.byteOffset, data.length / 4),
        );
        const { values, bounds, dims } = convolve(x, shape, floats[0]!, floats[1]!, options);
        expect(y.dims).toEqual(dims);
        const found = y.data as Float32Array;
        const worst = Math.max(...values.map((value, i) => Math.abs(found[i]! - value) / bounds[i]!));
        expect(worst).toBeLessThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
  });

  it("linear layers do too, also those kept as 1x1 convolutions", async () => {
    const [batch, tokens, inputs, outputs] = [2, 5, 48, 80];
    const shape = [batch, tokens, inputs];
    const x = uneven(countElements(shape), 5);
    for (const convolution of [false, true]) {
      const [weight, bias] = weightsOf(convolution ? [outputs, inputs, 1, 1] : [outputs, inputs], 3);
      const source = sourceOf("memory", [weight!, bias!]);
      const graph = build(source, shape, (g, v) => linear(g, v, "layer", inputs, outputs, { convolution }));
      const y = await run(graph, x, shape);
      expect(y.dims).toEqual([batch, tokens, outputs]);
      const floats = [weight!, bias!].map(
        ({ data }) => new Float32Array(data.buffer, data.byteOffset, data.length / 4),
      );
      // each token is a picture of one pixel
      const picture = [batch * tokens, inputs, 1, 1] as const;
      const { values, bounds } = convolve(x, picture, floats[0]!, floats[1]!, { kernel: 1, stride: 1, padding: 0 });
      const worst = Math.max(...values.map((value, i) => Math.abs((y.data as Float32Array)[i]! - value) / bounds[i]!));
      expect(worst).toBeLessThanOrEqual(1);
    }
  });
});

describe("which layers become products of bytes", () => {
  const used = (graph: BuiltGraph) => Buffer.from(graph.proto).includes("MatMulIntegerToFloat");
  const linearOf = (inputs: number, outputs: number, options: Parameters<typeof linear>[5], graphOptions = INT8) => {
    const source = sourceOf("memory", weightsOf([outputs, inputs], 1));
    const rank = options?.rank ?? 3;
    return build(source, Array(rank).fill(1), (g, x) => linear(g, x, "layer", inputs, outputs, options), graphOptions);
  };

  it("only where the graph asks for them, and not those that are precise, narrow or of single rows", () => {
    expect(used(linearOf(32, 32, {}))).toBe(true);
    expect(used(linearOf(32, 32, {}, FLOAT32))).toBe(false);
    expect(used(linearOf(32, 32, { precise: true }))).toBe(false);
    expect(used(linearOf(32, 32, { rank: 2 }))).toBe(false);
    expect(used(linearOf(8, 32, {}))).toBe(false);
    expect(used(linearOf(32, 4, {}))).toBe(false);
  });

  it("layers in blocks of 32 stay what they are", () => {
    const graph = linearOf(32, 32, {}, { ...INT8, quantise: "q4" });
    expect(used(graph)).toBe(false);
    expect(Buffer.from(graph.proto).includes("MatMulNBits")).toBe(true);
  });
});

describe("rounded weights in a file", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "int8-layers-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("give the numbers that those inside the graph give", async () => {
    const file = path.join(folder, "layer.safetensors");
    await writeSafetensors(file, weightsOf([80, 48, 3, 3], 9));
    const source = await openSafetensors(file);
    const shape = [1, 48, 6, 5] as const;
    const x = uneven(countElements(shape), 4);
    const layer = (g: GraphBuilder, v: Value) => conv2d(g, v, "layer", 48, 80);
    const inside = build(source, shape, layer);
    const outside = build(source, shape, layer, { ...INT8, computedFile: path.join(folder, "computed.bin") });
    expect(inside.work).toEqual([]);
    expect(outside.work.map(({ kind }) => kind)).toEqual(["int8"]);
    await computeWeights(outside.work, 1);
    const expected = (await run(inside, x, shape)).data;
    expect((await run(outside, x, shape)).data).toEqual(expected);
    // as the file has them, not packed for the kernels: what little memory is left for
    expect((await run(outside, x, shape, { ...INT8, weights: "cast" })).data).toEqual(expected);
  });
});
