/**
 * Convolutions on onnxruntime's blocked kernels (x64), a third faster than the plain ones. The runtime's own optimiser would choose them as well,
 * but copies the weights several times while it does so, which takes longer than several steps of a picture; here they are written in order at once.
 */
import { countElements, isBlockType, isStored, readTensorFloats, type TensorRef } from "@kit/tensor-files";
import { CORNER_KERNEL, type Corner, mapCorners, openCornerReader, padsOf } from "./corner-filters.js";
import { type FilterBlock, openFilterBlocker } from "./filter-blocker.js";
import type { Attributes, GraphBuilder, Value } from "./graph-builder.js";
import { doubleSides, joinCorners, sidesOf } from "./join-corners.js";
import { concat } from "./operators.js";

/** Of its filters in the file. */
export type ConvolutionShape = readonly [outputs: number, inputs: number, height: number, width: number];

/** The convolution on blocked channels, or undefined where this one stays plain. */
export function blockedConvolution(
  g: GraphBuilder,
  x: Value,
  name: string,
  shape: ConvolutionShape,
  bias: boolean,
  attributes: Attributes,
): Value | undefined {
  const { filterBlock } = g.options;
  const [outputs, inputs] = shape;
  if (filterBlock === undefined || inputs % filterBlock !== 0) return undefined;
  const weight = addBlockedFilters(g, name, shape, filterBlock);
  if (weight === undefined) return undefined;
  const padded = Math.ceil(outputs / filterBlock) * filterBlock;
  const shift = bias ? blockedBias(g, `${name}.bias`, outputs, padded) : undefined;
  const blocked = g.blockedNode("Conv", [g.blockedNode("ReorderInput", [x]), weight, shift], attributes);
  return g.blockedNode("ReorderOutput", [blocked], { channels: outputs });
}

/** A 3x3 convolution over `x` doubled, corner by corner, or undefined where this one stays plain. */
export function blockedDoubling(g: GraphBuilder, x: Value, name: string, shape: ConvolutionShape): Value | undefined {
  const { filterBlock } = g.options;
  const [outputs, inputs] = shape;
  if (filterBlock === undefined || inputs % filterBlock !== 0 || outputs % filterBlock !== 0) return undefined;
  const bias = g.parameter(`${name}.bias`, [outputs]);
  const sides = sidesOf(g, x);
  const small = g.blockedNode("ReorderInput", [x]);
  // how blocked channels lie in memory
  const lines = concat(g, [g.constantInts([-1]), sides, g.constantInts([filterBlock])], 0);
  const corners = mapCorners((corner) => {
    const weight = addBlockedFilters(g, name, shape, filterBlock, corner);
    const attributes = { kernel_shape: CORNER_KERNEL, pads: padsOf(corner) };
    return weight && g.node("Reshape", [g.blockedNode("Conv", [small, weight, bias], attributes), lines]);
  });
  if (corners === undefined) return undefined;
  const batch = g.node("Shape", [x], { start: 0, end: 1 }, "int64");
  const doubled = concat(g, [batch, g.constantInts([outputs]), doubleSides(g, sides)], 0);
  const large = g.node("Reshape", [joinCorners(g, corners), doubled]);
  return g.blockedNode("ReorderOutput", [large], { channels: outputs });
}

/** Missing biases are noted by the lookup, as for any other parameter. */
function blockedBias(g: GraphBuilder, name: string, outputs: number, padded: number): Value {
  if (padded === outputs) return g.parameter(name, [outputs]);
  const tensor = g.find(name, [outputs]);
  const values = new Float32Array(padded);
  if (tensor) values.set(readTensorFloats(tensor));
  return g.memoryInitialiser(`${name}.padded`, "float32", [padded], new Uint8Array(values.buffer));
}

/** Filters [outputs, inputs, ...kernel], or those of a corner; undefined where the checkpoint has none. */
export function addBlockedFilters(
  g: GraphBuilder,
  layer: string,
  fileShape: ConvolutionShape,
  block: FilterBlock,
  corner?: Corner,
): Value | undefined {
  const found = g.find(`${layer}.weight`, fileShape);
  if (found === undefined) return undefined;
  const tensor = { ...found, shape: fileShape };
  const [outputs, inputs, ...large] = fileShape;
  const kernel = corner ? CORNER_KERNEL : large;
  const shape = [outputs, inputs, ...kernel];
  const dims = [Math.ceil(outputs / block) * block, inputs, ...kernel];
  const name = `${tensor.name}.blocked${corner ? `.${corner.name}` : ""}`;
  const length = countElements(dims) * 4;
  if (isStored(tensor) && !isBlockType(tensor.dtype)) {
    const later = g.laterInitialisers([{ name, type: "float32", dims, length }]);
    if (later) {
      const [at] = later.offsets as [number];
      g.addWork({ kind: "block", block, tensor, shape, ...(corner ? { corner } : {}), file: later.file, at });
      return later.values[0]!;
    }
  }
  const { filters, pieces } = openFilterBlocker({ type: "F32", inputs, taps: countElements(kernel), block });
  const floats = readFilters(tensor, corner);
  const bytes = new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);
  const blocked = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const here = bytes.subarray(at, at + filters.length);
    filters.set(here);
    filters.fill(0, here.length);
    for (const piece of pieces()) {
      blocked.set(piece, at);
      at += piece.length;
    }
  }
  return g.memoryInitialiser(name, "float32", dims, blocked);
}

/** At once, in this thread: tensors that lie in no file, or have to be expanded first. */
function readFilters(tensor: TensorRef, corner: Corner | undefined): Float32Array {
  if (corner === undefined) return readTensorFloats(tensor);
  const [outputs = 1, inputs = 1] = tensor.shape;
  const filters = new Float32Array(outputs * inputs * countElements(CORNER_KERNEL));
  const reader = openCornerReader(tensor, corner);
  reader.read(0, filters);
  reader.close();
  return filters;
}
