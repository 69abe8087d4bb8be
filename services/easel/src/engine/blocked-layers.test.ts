/** Layers on this machine's blocked kernels against the same ones as plain operators. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  computeWeights,
  doublingConv2d,
  GraphBuilder,
  type GraphOptions,
  gatedFeedForward,
  linear,
  type Value,
} from "@kit/onnx-graph";
import {
  countElements,
  type MemoryTensor,
  openSafetensors,
  sourceOf,
  type TensorSource,
  tensorFromFloats,
  writeSafetensors,
} from "@kit/tensor-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFilterBlock } from "./find-filter-block.js";
import { createRuntimeSession } from "./runtime-session.js";

const TYPES = ["F32", "F16", "BF16"] as const;
/** Sums in another order differ by less. */
const TOLERANCE = 1e-5;
const [INPUTS, OUTPUTS] = [48, 32];
const [CHANNELS, INNER] = [32, 64];

const filterBlock = await findFilterBlock();
if (filterBlock === undefined) console.log("blocked-layers.test: this processor has no blocked kernels to compare");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "blocked-layers-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const uneven = (shape: readonly number[], scale: number) =>
  Float32Array.from({ length: countElements(shape) }, (_, i) => Math.sin((i + 1) * 12.9898 + scale) * scale);

function tensorOf(
  name: string,
  dims: readonly number[],
  floats: Float32Array,
  type: (typeof TYPES)[number],
): MemoryTensor {
  if (type !== "BF16") return tensorFromFloats(name, dims, floats, type);
  // cut off, not rounded: what it is matters, not how near
  const words = Uint16Array.from(new Uint32Array(floats.buffer), (bits) => bits >>> 16);
  return { name, dtype: type, shape: dims, data: new Uint8Array(words.buffer) };
}

type Layer = (g: GraphBuilder, x: Value) => Value;

async function apply(layer: Layer, source: TensorSource, shape: readonly number[], changes: Partial<GraphOptions>) {
  const options: GraphOptions = { target: "cpu", compute: "fp32", weights: "fold", ...changes };
  const g = new GraphBuilder("net", source, options);
  const names = (letter: string) => shape.map((_, axis) => `${letter}${axis}`);
  g.output("y", layer(g, g.input("x", "float32", names("x"))), names("y"));
  const graph = g.build();
  await computeWeights(graph.work, 1);
  const session = await createRuntimeSession(graph, options, 2);
  const { y } = await session.run({ x: { type: "float32", dims: shape, data: uneven(shape, 1) } });
  await session.release();
  return { ...y!, work: graph.work };
}

/** The plain operators, then the blocked ones with weights from a file and from memory. */
async function compare(
  layer: Layer,
  shape: readonly number[],
  parameters: Readonly<Record<string, readonly number[]>>,
) {
  for (const type of TYPES) {
    const tensors = Object.entries(parameters).map(([name, dims], i) =>
      tensorOf(name, dims, uneven(dims, 0.1 + i / 100), type),
    );
    const file = join(folder, `${type}.safetensors`);
    await writeSafetensors(file, tensors);
    const plain = await apply(layer, sourceOf("memory", tensors), shape, {});
    const stored = { filterBlock: filterBlock!, computedFile: join(folder, "computed.bin") };
    const fromFile = await apply(layer, await openSafetensors(file), shape, stored);
    const fromMemory = await apply(layer, sourceOf("memory", tensors), shape, { filterBlock: filterBlock! });
    expect(fromFile.work.length).toBeGreaterThan(0);
    for (const { dims, data } of [fromFile, fromMemory]) {
      expect(dims).toEqual(plain.dims);
      const scale = Math.max(...plain.data.map(Math.abs));
      expect(Math.max(...data.map((value, i) => Math.abs(value - plain.data[i]!)))).toBeLessThan(scale * TOLERANCE);
    }
  }
}

describe.skipIf(filterBlock === undefined)("on blocked kernels", () => {
  it.each([
    [1, 1],
    [5, 3],
    [8, 16],
  ])("a convolution of a doubled picture of %i x %i, corner by corner", async (height, width) => {
    const layer: Layer = (g, x) => doublingConv2d(g, x, "conv", INPUTS, OUTPUTS);
    await compare(layer, [2, INPUTS, height, width], {
      "conv.weight": [OUTPUTS, INPUTS, 3, 3],
      "conv.bias": [OUTPUTS],
    });
  });

  it("linear layers over rows and over few tokens", async () => {
    const parameters = { "layer.weight": [OUTPUTS, INPUTS], "layer.bias": [OUTPUTS] };
    await compare((g, x) => linear(g, x, "layer", INPUTS, OUTPUTS, { rank: 2 }), [3, INPUTS], parameters);
    await compare((g, x) => linear(g, x, "layer", INPUTS, OUTPUTS, { few: true }), [2, 7, INPUTS], parameters);
  });

  it("a gated feed-forward net over tokens", async () => {
    const layer: Layer = (g, x) => gatedFeedForward(g, x, "ff", CHANNELS, INNER);
    await compare(layer, [2, 13, CHANNELS], {
      "ff.net.0.proj.weight": [2 * INNER, CHANNELS],
      "ff.net.0.proj.bias": [2 * INNER],
      "ff.net.2.weight": [CHANNELS, INNER],
      "ff.net.2.bias": [CHANNELS],
    });
  });
});
