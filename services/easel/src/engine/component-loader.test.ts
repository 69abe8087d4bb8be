import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conv2d, GraphBuilder, type GraphOptions, needsComputedWeights, startWeights } from "@kit/onnx-graph";
import { countElements, openSafetensors, tensorFromFloats, writeSafetensors } from "@kit/tensor-files";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findFilterBlock } from "./find-filter-block.js";
import { createRuntimeSession } from "./runtime-session.js";

/** Large enough for threads: 18 MB. */
const CHANNELS = 704;
const SHAPE = [1, CHANNELS, 4, 4];

const filterBlock = await findFilterBlock();
if (filterBlock === undefined) console.log("component-loader.test: this processor has no blocked kernels to load for");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "component-loader-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const numbers = (shape: readonly number[], scale: number) =>
  Float32Array.from({ length: countElements(shape) }, (_, i) => Math.sin(i * 12.9898 + 78.233) * scale);

/** What the loader relies on: a session maps filters when it is created and reads them when it runs. */
it.skipIf(filterBlock === undefined)("a session takes filters that were written after it was created", async () => {
  const file = join(folder, "weights.safetensors");
  const filters = [CHANNELS, CHANNELS, 3, 3];
  await writeSafetensors(file, [tensorFromFloats("conv.weight", filters, numbers(filters, 0.01))]);
  const source = await openSafetensors(file);
  const feeds = { x: { type: "float32", dims: SHAPE, data: numbers(SHAPE, 1) } } as const;
  const build = (changes: Partial<GraphOptions>) => {
    const options: GraphOptions = { target: "cpu", compute: "fp32", weights: "fold", ...changes };
    const g = new GraphBuilder("net", source, options);
    const x = g.input("x", "float32", SHAPE);
    g.output("y", conv2d(g, x, "conv", CHANNELS, CHANNELS, { bias: false }), SHAPE);
    return { graph: g.build(), options };
  };

  const plain = build({});
  const plainSession = await createRuntimeSession(plain.graph, plain.options, 1);
  const expected = (await plainSession.run(feeds))["y"]!.data;
  await plainSession.release();

  const blocked = build({ filterBlock: filterBlock!, computedFile: join(folder, "computed.bin") });
  expect(blocked.graph.work.length).toBe(1);
  expect(needsComputedWeights(blocked.graph.work)).toBe(false);
  const session = await createRuntimeSession(blocked.graph, blocked.options, 1);
  await startWeights(blocked.graph.work, 1).finish();
  const found = (await session.run(feeds))["y"]!.data;
  await session.release();
  expect(Math.max(...found.map((value, i) => Math.abs(value - expected[i]!)))).toBeLessThan(1e-3);
  expect(Math.max(...found)).toBeGreaterThan(0.01);
});
