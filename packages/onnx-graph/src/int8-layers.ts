/**
 * Linear layers and convolutions as products of bytes: several times faster than float32 on processors with instructions for them (AMX, VNNI), and no longer exact.
 * Weights are rounded once, to a signed byte with a scale for each output. Activations are rounded in each call, all of a layer's with one scale and zero point
 * (DynamicQuantizeLinear). Sums are exact; the result is float32 again (MatMulIntegerToFloat).
 */
import { countElements, isBlockType, isStored, openTensorReader, type TensorRef } from "@kit/tensor-files";
import type { ConvolutionShape } from "./blocked-convolution.js";
import { CORNER_KERNEL, type Corner, mapCorners, openCornerReader, padsOf } from "./corner-filters.js";
import type { GraphBuilder, Value } from "./graph-builder.js";
import { INT8_MULTIPLE, roundWeights } from "./int8-weights.js";
import { doubleSides, joinCorners, sidesOf } from "./join-corners.js";
import { add, concat, gather, multiply, reshape, subtract, transpose, unsqueeze } from "./operators.js";
import type { Int8Work } from "./weight-work.js";

/** The layer over the last axis of `x`, or undefined where this one stays as it is. `shape` is the weight's in the file, which may be that of a 1x1 convolution. */
export function int8Linear(
  g: GraphBuilder,
  x: Value,
  name: string,
  shape: readonly number[],
  bias: boolean,
): Value | undefined {
  const weights = addInt8Weights(g, `${name}.weight`, shape);
  if (weights === undefined) return undefined;
  return multiplyBytes(g, roundActivations(g, x), weights, bias ? g.parameter(`${name}.bias`, [shape[0]!]) : undefined);
}

export interface Int8ConvolutionOptions {
  readonly stride: number;
  readonly padding: number;
  readonly bias: boolean;
}

/** The convolution, or undefined where this one stays as it is. */
export function int8Convolution(
  g: GraphBuilder,
  x: Value,
  name: string,
  shape: ConvolutionShape,
  { stride, padding, bias }: Int8ConvolutionOptions,
): Value | undefined {
  const weights = addInt8Weights(g, `${name}.weight`, shape);
  if (weights === undefined) return undefined;
  const biasValue = bias ? g.parameter(`${name}.bias`, [shape[0]]) : undefined;
  const [, inputs, ...size] = shape;
  const kernel = { inputs, size, stride, pads: [padding, padding, padding, padding] } as const;
  return transpose(g, convolveBytes(g, x, kernel, weights, biasValue), CHANNELS_FIRST);
}

/** A 3x3 convolution over `x` doubled, corner by corner, or undefined where this one stays as it is. */
export function int8Doubling(g: GraphBuilder, x: Value, name: string, shape: ConvolutionShape): Value | undefined {
  const [outputs, inputs] = shape;
  const corners = mapCorners((corner) => {
    const weights = addInt8Weights(g, `${name}.weight`, shape, corner);
    const kernel = { inputs, size: CORNER_KERNEL, stride: 1, pads: padsOf(corner) };
    return weights && convolveBytes(g, x, kernel, weights, g.parameter(`${name}.bias`, [outputs]));
  });
  if (corners === undefined) return undefined;
  const sizes = [g.constantInts([0]), doubleSides(g, sidesOf(g, x)), g.constantInts([outputs])];
  return transpose(g, g.node("Reshape", [joinCorners(g, corners), concat(g, sizes, 0)]), CHANNELS_FIRST);
}

interface Kernel {
  readonly inputs: number;
  readonly size: readonly [height: number, width: number];
  readonly stride: number;
  readonly pads: readonly [top: number, left: number, bottom: number, right: number];
}

/**
 * Pictures become rows of all numbers under the filter, so that it is one product; they are rounded and put channels last before, as bytes that takes
 * a quarter of the time. The result has its channels last.
 */
function convolveBytes(
  g: GraphBuilder,
  x: Value,
  { size, stride, pads, inputs }: Kernel,
  weights: WeightValues,
  bias: Value | undefined,
): Value {
  const { bytes, scale, zero } = roundActivations(g, x);
  let picture = transpose(g, bytes, CHANNELS_LAST);
  if (pads.some((count) => count > 0)) {
    const [top, left, bottom, right] = pads;
    // around the picture lies what 0 was rounded to
    picture = g.node("Pad", [picture, g.constantInts([0, top, left, 0, 0, bottom, right, 0]), zero]);
  }
  const rows = takeTaps(g, picture, size, stride, inputs);
  return multiplyBytes(g, { bytes: rows, scale, zero }, weights, bias);
}

const CHANNELS_LAST = [0, 2, 3, 1];
const CHANNELS_FIRST = [0, 3, 1, 2];

/**
 * All that the filter sees at each of its places, in one copy: [batch, height, width, taps * channels], from a picture [batch, height, width, channels].
 * A pixel's channels lie together, so each tap is a piece of memory, whose number among the picture's pixels is computed.
 */
function takeTaps(
  g: GraphBuilder,
  picture: Value,
  [height, width]: readonly [number, number],
  stride: number,
  channels: number,
): Value {
  if (height === 1 && width === 1 && stride === 1) return picture;
  const sides = g.node("Shape", [picture], { start: 1, end: 3 }, "int64");
  const lineLength = gather(g, sides, g.constantInts([1]));
  const placesAlong = (side: number, size: number): Value => {
    const end = subtract(g, gather(g, sides, g.constantInts([side], [])), g.constantInts([size - 1], []));
    return g.node("Range", [g.constantInts([0], []), end, g.constantInts([stride], [])], {}, "int64");
  };
  const lines = unsqueeze(g, multiply(g, placesAlong(0, height), lineLength), [1, 2]);
  const columns = unsqueeze(g, placesAlong(1, width), [1]);
  const taps = Array.from({ length: height * width }, (_, tap) => [Math.floor(tap / width), tap % width] as const);
  const tapLines = multiply(g, g.constantInts(taps.map(([line]) => line)), lineLength);
  const inPicture = add(g, tapLines, g.constantInts(taps.map(([, column]) => column)));
  const pixels = add(g, add(g, lines, columns), inPicture);
  const pieces = gather(g, reshape(g, picture, [0, -1, channels]), pixels, 1);
  // not with a constant [0, 0, 0, n]: the runtime's shape inference then refuses a Resize to another value's size further on
  const shapeOf = (value: Value, end: number): Value => g.node("Shape", [value], { start: 0, end }, "int64");
  const sizes = [shapeOf(picture, 1), shapeOf(pixels, 2), g.constantInts([taps.length * channels])];
  return g.node("Reshape", [pieces, concat(g, sizes, 0)]);
}

/** x = scale * (bytes - zero), with one scale and zero point for all of it. */
interface RoundedValue {
  readonly bytes: Value;
  readonly scale: Value;
  readonly zero: Value;
}

/** Layers with the same input ask for it again and again; the runtime's optimiser makes it one. */
function roundActivations(g: GraphBuilder, x: Value): RoundedValue {
  const [bytes, scale, zero] = g.multiNode("DynamicQuantizeLinear", [x], {}, ["uint8", "float32", "uint8"]);
  return { bytes: bytes!, scale: scale!, zero: zero! };
}

interface WeightValues {
  /** [taps * inputs, outputs] */
  readonly weights: Value;
  readonly scales: Value;
}

function multiplyBytes(
  g: GraphBuilder,
  { bytes, scale, zero }: RoundedValue,
  { weights, scales }: WeightValues,
  bias: Value | undefined,
): Value {
  const inputs = [bytes, weights, scale, scales, zero, undefined, bias];
  return g.contribNode("MatMulIntegerToFloat", inputs, {}, "float32");
}

/** Undefined where the graph does not ask for bytes, or the layer is too narrow for them: the first and the last one of a net, mostly. */
function addInt8Weights(
  g: GraphBuilder,
  name: string,
  shape: readonly number[],
  corner?: Corner,
): WeightValues | undefined {
  const [outputs = 1, inputs = 1, ...large] = shape;
  const kernel = corner ? CORNER_KERNEL : large;
  if (!g.options.int8 || outputs % INT8_MULTIPLE !== 0 || inputs % INT8_MULTIPLE !== 0) return undefined;
  const tensor = g.find(name, shape);
  if (tensor === undefined) return undefined;
  const dims = [countElements(kernel) * inputs, outputs];
  const prefix = `${name}.int8${corner ? `.${corner.name}` : ""}`;
  const names = [prefix, `${prefix}.scales`] as const;
  const rounded = { shape: [outputs, inputs, ...kernel], ...(corner ? { corner } : {}) };
  if (isStored(tensor) && !isBlockType(tensor.dtype)) {
    const later = g.laterInitialisers([
      { name: names[0], type: "int8", dims, length: countElements(dims) },
      { name: names[1], type: "float32", dims: [outputs], length: outputs * 4 },
    ]);
    if (later) {
      const [weightsAt, scalesAt] = later.offsets as [number, number];
      g.addWork({ kind: "int8", tensor: { ...tensor, shape }, ...rounded, file: later.file, weightsAt, scalesAt });
      const [weights, scales] = later.values as [Value, Value];
      return { weights, scales };
    }
  }
  const { weights, scales } = roundTensor({ ...tensor, shape }, rounded);
  return {
    weights: g.memoryInitialiser(names[0], "int8", dims, weights),
    scales: g.memoryInitialiser(names[1], "float32", [outputs], scales),
  };
}

/** At once, in this thread: tensors that lie in no file, or have to be expanded first. */
function roundTensor(
  tensor: TensorRef,
  { shape, corner }: Pick<Int8Work, "shape" | "corner">,
): { readonly weights: Uint8Array; readonly scales: Uint8Array } {
  const reader = corner ? openCornerReader(tensor, corner) : openTensorReader(tensor);
  try {
    const { weights, scales } = roundWeights(shape, reader);
    return { weights: weights.slice(), scales: scales.slice() };
  } finally {
    reader.close();
  }
}
