/** One function per ONNX operator, so that model code reads like the mathematics and types are kept. */
import type { GraphBuilder, Value } from "./graph-builder.js";

export const add = (g: GraphBuilder, a: Value, b: Value): Value => g.node("Add", [a, b]);
export const subtract = (g: GraphBuilder, a: Value, b: Value): Value => g.node("Sub", [a, b]);
export const multiply = (g: GraphBuilder, a: Value, b: Value): Value => g.node("Mul", [a, b]);
export const sine = (g: GraphBuilder, x: Value): Value => g.node("Sin", [x]);
export const cosine = (g: GraphBuilder, x: Value): Value => g.node("Cos", [x]);
export const relu = (g: GraphBuilder, x: Value): Value => g.node("Relu", [x]);
export const tanh = (g: GraphBuilder, x: Value): Value => g.node("Tanh", [x]);

export function clip(g: GraphBuilder, x: Value, low: number, high: number): Value {
  return g.node("Clip", [x, g.constantFloats([low], []), g.constantFloats([high], [])]);
}

/** x * sigmoid(alpha * x) in one kernel; alpha 1 is SiLU (swish), 1.702 CLIP's quick GELU. */
export function quickGelu(g: GraphBuilder, x: Value, alpha = 1.702): Value {
  return g.contribNode("QuickGelu", [x], { alpha: { float: alpha } });
}

export const silu = (g: GraphBuilder, x: Value): Value => quickGelu(g, x, 1);

export function gelu(g: GraphBuilder, x: Value, approximate: "none" | "tanh" = "none"): Value {
  if (approximate === "none") return g.contribNode("Gelu", [x]);
  return g.node("Gelu", [x], { approximate });
}

export function concat(g: GraphBuilder, values: readonly Value[], axis: number): Value {
  return values.length === 1 ? values[0]! : g.node("Concat", values, { axis });
}

/** Sizes as ONNX means them: 0 keeps a dimension, one -1 takes the rest. */
export function reshape(g: GraphBuilder, x: Value, sizes: readonly number[]): Value {
  return g.node("Reshape", [x, g.constantInts(sizes)]);
}

/** Gives `x` the shape of another value, whatever it is at the call. */
export function reshapeLike(g: GraphBuilder, x: Value, other: Value): Value {
  return g.node("Reshape", [x, g.node("Shape", [other], {}, "int64")]);
}

export function transpose(g: GraphBuilder, x: Value, perm: readonly number[]): Value {
  return g.node("Transpose", [x], { perm });
}

export function unsqueeze(g: GraphBuilder, x: Value, axes: readonly number[]): Value {
  return g.node("Unsqueeze", [x, g.constantInts(axes)]);
}

export function slice(g: GraphBuilder, x: Value, axis: number, start: number, end: number): Value {
  return g.node("Slice", [x, g.constantInts([start]), g.constantInts([end]), g.constantInts([axis])]);
}

/** Two equal parts along an axis. */
export function halve(g: GraphBuilder, x: Value, axis: number): [Value, Value] {
  return g.multiNode("Split", [x], { axis, num_outputs: 2 }, [x.type, x.type]) as [Value, Value];
}

export function gather(g: GraphBuilder, table: Value, indices: Value, axis = 0): Value {
  return g.node("Gather", [table, indices], { axis });
}

/** Zeros around height and width: PyTorch's order left, right, top, bottom. */
export function padImage(g: GraphBuilder, x: Value, left: number, right: number, top: number, bottom: number): Value {
  return g.node("Pad", [x, g.constantInts([0, 0, top, left, 0, 0, bottom, right])]);
}

export function upsampleNearest(g: GraphBuilder, x: Value, factor: number): Value {
  return g.node("Resize", [x, undefined, g.constantFloat32([1, 1, factor, factor])], RESIZE_LIKE_TORCH);
}

/** Enlarges `x` to the height and width of another value: odd sizes do not come back by doubling. */
export function upsampleNearestLike(g: GraphBuilder, x: Value, other: Value): Value {
  const head = g.node("Shape", [x], { start: 0, end: 2 }, "int64");
  const tail = g.node("Shape", [other], { start: 2, end: 4 }, "int64");
  const sizes = concat(g, [head, tail], 0);
  return g.node("Resize", [x, undefined, undefined, sizes], RESIZE_LIKE_TORCH);
}

const RESIZE_LIKE_TORCH = {
  mode: "nearest",
  coordinate_transformation_mode: "asymmetric",
  nearest_mode: "floor",
} as const;
