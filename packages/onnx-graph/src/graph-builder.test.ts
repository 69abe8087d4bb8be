import { existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  countElements,
  dequantiseBlocks,
  floatToHalf,
  type MemoryTensor,
  openSafetensors,
  sourceOf,
  type TensorRef,
  tensorFromFloats,
  writeSafetensors,
} from "@kit/tensor-files";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuiltGraph, GraphBuilder } from "./graph-builder.js";
import type { GraphOptions } from "./graph-options.js";
import { attention, conv2d, gatedFeedForward, groupNorm, linear } from "./layers.js";
import { gelu, padImage, quickGelu, silu, upsampleNearest } from "./operators.js";
import { packWeights } from "./pack-weights.js";
import { recommendedSessionOptions } from "./session-options.js";

const CPU: GraphOptions = { target: "cpu", compute: "fp32", weights: "fold" };
/** Quantised layers with float activations: exact to rounding. */
const EXACT: GraphOptions = { ...CPU, target: "webgpu" };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "onnx-graph-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function runGraph(graph: BuiltGraph, feeds: Record<string, Tensor>): Promise<Float32Array> {
  const session = await InferenceSession.create(graph.proto, recommendedSessionOptions(graph, CPU, 1));
  const results = await session.run(feeds);
  await session.release();
  return results["y"]!.data as Float32Array;
}

/** Deterministic numbers between -1 and 1 without pattern. */
function noise(count: number, seed = 1): Float32Array {
  return Float32Array.from(
    { length: count },
    (_, i) => ((Math.sin((i + 1) * 12.9898 * seed) * 43758.5453) % 1) * 2 - 0,
  );
}

const random = (name: string, shape: number[], seed = 1): MemoryTensor =>
  tensorFromFloats(name, shape, noise(countElements(shape), seed));

function expectClose(found: Float32Array, wanted: Float32Array, tolerance: number): void {
  expect(found.length).toBe(wanted.length);
  const scale = wanted.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const error = found.reduce((most, x, i) => Math.max(most, Math.abs(x - wanted[i]!)), 0);
  expect(error / scale).toBeLessThan(tolerance);
}

function multiplyRows(x: Float32Array, weight: Float32Array, inside: number, outside: number): Float32Array {
  const rows = x.length / inside;
  const y = new Float32Array(rows * outside);
  for (let r = 0; r < rows; r++) {
    for (let o = 0; o < outside; o++) {
      let sum = 0;
      for (let i = 0; i < inside; i++) sum += x[r * inside + i]! * weight[o * inside + i]!;
      y[r * outside + o] = sum;
    }
  }
  return y;
}

function linearGraph(weight: TensorRef, options: GraphOptions): BuiltGraph {
  const [outside, inside] = weight.shape as [number, number];
  const g = new GraphBuilder("test", sourceOf("memory", [weight]), options);
  const x = g.input("x", "float32", ["B", "T", inside]);
  g.output("y", linear(g, x, "layer", inside, outside, { bias: false }), ["B", "T", outside]);
  return g.build();
}

describe("weights", () => {
  it("come straight out of a safetensors file, at any offset, converted from half precision", async () => {
    const file = path.join(folder, "weights.safetensors");
    const odd: MemoryTensor = { name: "odd", dtype: "U8", shape: [3], data: new Uint8Array(3) };
    const weight = tensorFromFloats("layer.weight", [8, 32], noise(256), "F16");
    await writeSafetensors(file, [odd, weight]);
    const opened = await openSafetensors(file);
    const graph = linearGraph(opened.get("layer.weight")!, CPU);
    expect(graph.weightBytes).toBe(512);
    const x = noise(64, 2);
    const y = await runGraph(graph, { x: new Tensor("float32", x, [1, 2, 32]) });
    expectClose(y, multiplyRows(x, noise(256), 32, 8), 1e-3);
  });

  it("that are missing are all named at once", () => {
    const g = new GraphBuilder("net", sourceOf("some.safetensors", []), CPU);
    const x = g.input("x", "float32", ["B", 4, "H", "W"]);
    g.output("y", conv2d(g, groupNorm(g, x, "norm", 4, 2, 1e-5), "conv", 4, 8), ["B", 8, "H", "W"]);
    expect(() => g.build()).toThrow(
      "some.safetensors: 4 tensors are missing for net: norm.weight, norm.bias, conv.weight, conv.bias; the file is incomplete or does not belong to its config.json",
    );
  });

  it("that are missing and taken apart are named as the file would have them", () => {
    const g = new GraphBuilder("net", sourceOf("some.safetensors", []), CPU);
    const x = g.input("x", "float32", ["B", "T", 4]);
    g.output("y", gatedFeedForward(g, x, "ff", 4, 16), ["B", "T", 4]);
    expect(() => g.build()).toThrow(
      "4 tensors are missing for net: ff.net.0.proj.weight, ff.net.0.proj.bias, ff.net.2.bias, ff.net.2.weight;",
    );
  });

  it("of another shape are refused with both shapes", () => {
    const g = new GraphBuilder("net", sourceOf("memory", [random("conv.weight", [8, 3, 3, 3])]), CPU);
    const x = g.input("x", "float32", ["B", 4, "H", "W"]);
    expect(() => conv2d(g, x, "conv", 4, 8)).toThrow(
      "memory: tensor 'conv.weight' has shape [8, 3, 3, 3], but its config.json calls for [8, 4, 3, 3]",
    );
  });
});

describe("quantised linears", () => {
  const inside = 64;
  const outside = 24;
  const x = noise(3 * inside, 3);
  const feeds = { x: new Tensor("float32", x, [1, 3, inside]) };

  /** Random GGUF blocks: half scales, then bytes. */
  function blocks(type: "Q8_0" | "Q4_0"): MemoryTensor {
    const size = type === "Q8_0" ? 34 : 18;
    const count = (inside * outside) / 32;
    const data = new Uint8Array(count * size);
    for (let b = 0; b < count; b++) {
      const scale = floatToHalf(0.01 * (1 + (b % 7)));
      data[b * size] = scale & 255;
      data[b * size + 1] = scale >> 8;
      for (let i = 2; i < size; i++) data[b * size + i] = (b * 31 + i * 97 + ((i * i) >> 2)) & 255;
    }
    return { name: "layer.weight", dtype: type, shape: [outside, inside], data };
  }

  it.each(["Q8_0", "Q4_0"] as const)("carry GGUF's %s exactly", async (type) => {
    const weight = blocks(type);
    const expanded = dequantiseBlocks(type, weight.data, inside * outside);
    const y = await runGraph(linearGraph(weight, EXACT), feeds);
    expectClose(y, multiplyRows(x, expanded, inside, outside), 2e-6);
  });

  it.each([
    ["q8", 0.01],
    ["q4", 0.15],
  ] as const)("make %s of any weights", async (quantise, tolerance) => {
    const weight = random("layer.weight", [outside, inside], 5);
    const exact = multiplyRows(x, noise(inside * outside, 5), inside, outside);
    expectClose(await runGraph(linearGraph(weight, { ...CPU, quantise }), feeds), exact, tolerance);
    expectClose(await runGraph(linearGraph(weight, { ...EXACT, quantise }), feeds), exact, tolerance);
  });

  it("use all sixteen levels of four bits", () => {
    const ramp = tensorFromFloats(
      "w",
      [1, 32],
      Float32Array.from({ length: 32 }, (_, i) => (i % 16) - 8),
    );
    const { blocks: packed, scales } = packWeights(ramp, 4);
    expect(scales[0]).toBe(1);
    expect(new Set([...packed].flatMap((byte) => [byte & 15, byte >> 4])).size).toBe(16);
  });

  it("go to a file of their own where one is given, which may be removed once the session exists", async () => {
    const computedFile = path.join(folder, "computed.bin");
    const weight = random("layer.weight", [1024, 128], 5);
    const graph = linearGraph(weight, { ...EXACT, quantise: "q8", computedFile });
    expect((await stat(computedFile)).size).toBe(1024 * 128);
    const session = await InferenceSession.create(graph.proto, recommendedSessionOptions(graph, CPU, 1));
    await rm(computedFile);
    expect(existsSync(computedFile)).toBe(false);
    const input = noise(128, 3);
    const results = await session.run({ x: new Tensor("float32", input, [1, 1, 128]) });
    const wanted = multiplyRows(input, noise(1024 * 128, 5), 128, 1024);
    expectClose(results["y"]!.data as Float32Array, wanted, 0.01);
    await session.release();
  });
});

describe("operators", () => {
  async function apply(
    x: Float32Array,
    shape: number[],
    op: (g: GraphBuilder, x: ReturnType<GraphBuilder["input"]>) => ReturnType<GraphBuilder["input"]>,
  ): Promise<Float32Array> {
    const g = new GraphBuilder("op", sourceOf("memory", []), CPU);
    const dims = shape.map((_, axis) => `d${axis}`);
    const y = op(g, g.input("x", "float32", dims));
    g.output(
      "y",
      y,
      shape.map((_, axis) => `o${axis}`),
    );
    return runGraph(g.build(), { x: new Tensor("float32", x, shape) });
  }

  it("activate", async () => {
    const x = Float32Array.of(-3, -1, 0, 0.5, 2);
    const sigmoid = (v: number): number => 1 / (1 + Math.exp(-v));
    expectClose(
      await apply(x, [5], silu),
      x.map((v) => v * sigmoid(v)),
      1e-6,
    );
    expectClose(
      await apply(x, [5], (g, v) => quickGelu(g, v)),
      x.map((v) => v * sigmoid(1.702 * v)),
      1e-6,
    );
    expectClose(
      await apply(x, [5], (g, v) => gelu(g, v)),
      Float32Array.of(-0.00404969, -0.15865526, 0, 0.34573123, 1.9544997),
      1e-6,
    );
  });

  it("enlarge and pad pictures", async () => {
    const x = Float32Array.of(1, 2, 3, 4);
    expect([...(await apply(x, [1, 1, 2, 2], (g, v) => upsampleNearest(g, v, 2)))]).toEqual([
      1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4,
    ]);
    expect([...(await apply(x, [1, 1, 2, 2], (g, v) => padImage(g, v, 0, 1, 0, 1)))]).toEqual([
      1, 2, 0, 3, 4, 0, 0, 0, 0,
    ]);
  });

  it("attend", async () => {
    // one head, one key: whatever the query, the answer is that key's value
    const x = noise(4, 9);
    expectClose(await apply(x, [1, 1, 4], (g, v) => attention(g, v, v, v, { heads: 2, scale: 0.5 })), x, 1e-6);
  });
});
