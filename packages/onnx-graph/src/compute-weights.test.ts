import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { countElements, openSafetensors, type TensorFile, tensorFromFloats, writeSafetensors } from "@kit/tensor-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuiltGraph, GraphBuilder } from "./graph-builder.js";
import type { GraphOptions } from "./graph-options.js";
import { computeWeights } from "./index.js";
import { conv2d, linear } from "./layers.js";

/** Large enough for threads: 40 MB in all. */
const MATRICES = ["a", "b", "c", "d"];
const [ROWS, COLUMNS] = [1024, 2048];
const FILTERS = [
  { name: "narrow", shape: [4, 32, 3, 3] },
  { name: "wide", shape: [96, 64, 3, 3] },
  { name: "deep", shape: [512, 1024, 1, 1] },
] as const;

let folder: string;
let file: TensorFile;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "compute-weights-"));
  const numbers = (shape: readonly number[], seed: number) =>
    Float32Array.from({ length: countElements(shape) }, (_, i) => Math.sin(i * 12.9898 + seed));
  const tensors = [
    ...MATRICES.map((name, i) =>
      tensorFromFloats(`${name}.weight`, [ROWS, COLUMNS], numbers([ROWS, COLUMNS], i), i % 2 === 0 ? "F16" : "F32"),
    ),
    ...FILTERS.flatMap(({ name, shape }, i) => [
      tensorFromFloats(`${name}.weight`, shape, numbers(shape, i), "F16"),
      tensorFromFloats(`${name}.bias`, [shape[0]], numbers([shape[0]], i)),
    ]),
  ];
  await writeSafetensors(path.join(folder, "weights.safetensors"), tensors);
  file = await openSafetensors(path.join(folder, "weights.safetensors"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function build(options: Partial<GraphOptions>): BuiltGraph {
  const g = new GraphBuilder("net", file, { target: "cpu", compute: "fp32", weights: "fold", ...options });
  for (const name of MATRICES) {
    const x = g.input(`x.${name}`, "float32", ["B", "T", COLUMNS]);
    g.output(`y.${name}`, linear(g, x, name, COLUMNS, ROWS, { bias: false }), ["B", "T", ROWS]);
  }
  for (const { name, shape } of FILTERS) {
    const x = g.input(`x.${name}`, "float32", ["B", shape[1], "H", "W"]);
    g.output(`y.${name}`, conv2d(g, x, name, shape[1], shape[0], { kernel: shape[2] }), ["B", shape[0], "H", "W"]);
  }
  return g.build();
}

describe("weights computed after a graph was built", () => {
  it.each([
    { quantise: "q8", filterBlock: 16 },
    { quantise: "q4", filterBlock: 8 },
  ] as const)("are those computed at once: $quantise, blocks of $filterBlock", async (options) => {
    const inline = Buffer.from(build(options).proto);
    const graph = build({ ...options, computedFile: path.join(folder, "threads.bin") });
    expect(graph.work.length).toBe(MATRICES.length + FILTERS.length);
    for (const { file } of graph.work) expect((await stat(file)).blocks).toBe(0);
    await computeWeights(graph.work, 2);
    for (const work of graph.work) {
      if (work.kind !== "block" && work.kind !== "quantise") throw new Error(`${work.kind} was not asked for`);
      const written = await readFile(work.file);
      const ranges =
        work.kind === "block"
          ? [
              [
                work.at,
                Math.ceil(work.tensor.shape[0]! / work.block) *
                  work.block *
                  countElements(work.tensor.shape.slice(1)) *
                  4,
              ],
            ]
          : [
              [work.blocksAt, (ROWS * COLUMNS * work.bits) / 8],
              [work.scalesAt, (ROWS * COLUMNS) / 8],
            ];
      for (const [at, length] of ranges) {
        const bytes = written.subarray(at, at! + length!);
        expect(bytes.length).toBe(length);
        expect(bytes.some((byte) => byte !== 0)).toBe(true);
        expect(inline.includes(bytes), `${work.kind} ${work.tensor.name}`).toBe(true);
      }
    }
  });

  it("name the file and the tensor when it has become shorter meanwhile", async () => {
    const cut = path.join(folder, "cut.safetensors");
    await writeSafetensors(cut, [tensorFromFloats("a.weight", [ROWS, COLUMNS], new Float32Array(ROWS * COLUMNS))]);
    const source = await openSafetensors(cut);
    const options = { target: "cpu", compute: "fp32", weights: "fold", quantise: "q8" } as const;
    const g = new GraphBuilder("net", source, { ...options, computedFile: path.join(folder, "cut.bin") });
    const x = g.input("x", "float32", ["B", "T", COLUMNS]);
    g.output("y", linear(g, x, "a", COLUMNS, ROWS, { bias: false }), ["B", "T", ROWS]);
    const graph = g.build();
    await writeSafetensors(cut, []);
    const repeated = Array.from({ length: 4 }, () => graph.work[0]!);
    await expect(computeWeights(repeated, 2)).rejects.toThrow(
      /cut\.safetensors.*'a\.weight' could not be read in full/,
    );
    await expect(computeWeights(graph.work, 1)).rejects.toThrow(
      /cut\.safetensors.*'a\.weight' could not be read in full/,
    );
  });
});

describe("blocked filters", () => {
  it("stand in the order [outputs / block, inputs / block, height, width, inputs, outputs]", async () => {
    const graph = build({ filterBlock: 8, computedFile: path.join(folder, "order.bin") });
    await computeWeights(graph.work, 1);
    const work = graph.work.find((item) => item.tensor.name === "wide.weight");
    if (work?.kind !== "block") throw new Error("the wide filter was not blocked");
    const written = await readFile(work.file);
    const floats = new Float32Array(new Uint8Array(written.subarray(work.at)).buffer);
    const [, inputs, height, width] = FILTERS[1].shape;
    const halfOf = (o: number, i: number, y: number, x: number) =>
      Math.sin((((o * inputs + i) * height + y) * width + x) * 12.9898 + 1);
    for (const [o, i, y, x] of [
      [0, 0, 0, 0],
      [7, 9, 2, 1],
      [8, 63, 0, 2],
      [95, 31, 1, 1],
    ] as const) {
      const at = (((((o >> 3) * (inputs >> 3) + (i >> 3)) * height + y) * width + x) * 8 + (i & 7)) * 8 + (o & 7);
      expect(Math.abs(floats[at]! - halfOf(o, i, y, x))).toBeLessThan(1e-3);
    }
  });
});
