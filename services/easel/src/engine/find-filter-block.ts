/** Whether onnxruntime's blocked convolution kernels run here, and how many channels they take at a time: found out by computing with them. */
import { conv2d, type FilterBlock, GraphBuilder, type GraphOptions } from "@kit/onnx-graph";
import { countElements, sourceOf, tensorFromFloats } from "@kit/tensor-files";
import { createRuntimeSession } from "./runtime-session.js";

/** AVX-512 takes 16, AVX 8. A wrong guess gives wrong numbers, not an error: hence the comparison. */
const CANDIDATES: readonly FilterBlock[] = [16, 8];
const CHANNELS = 32;
const SIDE = 6;
/** Sums of 288 products in another order differ by far less, filters in a wrong order by far more. */
const TOLERANCE = 1e-4;

let found: Promise<FilterBlock | undefined> | undefined;

/** The answer is the machine's, so it is looked for once. */
export function findFilterBlock(): Promise<FilterBlock | undefined> {
  found ??= search();
  return found;
}

async function search(): Promise<FilterBlock | undefined> {
  // elsewhere these kernels exist in part and were never measured
  if (process.arch !== "x64") return undefined;
  const plain = await convolve(undefined);
  for (const block of CANDIDATES) {
    try {
      const blocked = await convolve(block);
      if (blocked.every((value, i) => Math.abs(value - plain[i]!) < TOLERANCE)) return block;
    } catch {
      // a runtime without these kernels refuses the graph
    }
  }
  return undefined;
}

async function convolve(filterBlock: FilterBlock | undefined): Promise<Float32Array> {
  const options: GraphOptions = {
    target: "cpu",
    compute: "fp32",
    weights: "fold",
    ...(filterBlock ? { filterBlock } : {}),
  };
  const weights = [
    tensorFromFloats("conv.weight", [CHANNELS, CHANNELS, 3, 3], unevenNumbers([CHANNELS, CHANNELS, 3, 3])),
    tensorFromFloats("conv.bias", [CHANNELS], unevenNumbers([CHANNELS])),
  ];
  const graph = new GraphBuilder("convolution", sourceOf("memory", weights), options);
  const shape = [1, CHANNELS, SIDE, SIDE];
  const x = graph.input("x", "float32", shape);
  graph.output("y", conv2d(graph, x, "conv", CHANNELS, CHANNELS), shape);
  const session = await createRuntimeSession(graph.build(), options, 1);
  try {
    const outputs = await session.run({ x: { type: "float32", dims: shape, data: unevenNumbers(shape) } });
    return outputs["y"]!.data;
  } finally {
    await session.release();
  }
}

/** No two neighbours alike, so that any mistake in their order shows. */
function unevenNumbers(shape: readonly number[]): Float32Array {
  return Float32Array.from({ length: countElements(shape) }, (_, i) => Math.sin(i * 12.9898 + 78.233) * 0.3);
}
