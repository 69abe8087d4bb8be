/** Layers with weights, by the names they have in the checkpoint; each picks the operators its target runs best. */
import { blockedConvolution, blockedDoubling } from "./blocked-convolution.js";
import { blockedFeedForward, blockedLinear } from "./blocked-linear.js";
import type { GraphBuilder, Value } from "./graph-builder.js";
import { int8Convolution, int8Doubling, int8Linear } from "./int8-layers.js";
import {
  add,
  concat,
  cosine,
  gather,
  gelu,
  halve,
  multiply,
  reshape,
  reshapeLike,
  sine,
  transpose,
  unsqueeze,
  upsampleNearest,
} from "./operators.js";
import { quantisedLinear } from "./quantised-linear.js";

export interface LinearOptions {
  readonly bias?: boolean;
  /** dimensions of the input: [rows, features] or [batch, tokens, features] */
  readonly rank?: 2 | 3;
  /** the checkpoint keeps this layer as a 1x1 convolution: [out, in, 1, 1] */
  readonly convolution?: boolean;
  /** this layer stays as it is where the graph asks for int8 */
  readonly precise?: boolean;
  /** it is used on few rows or tokens: a text, not a picture */
  readonly few?: boolean;
}

/**
 * y = x Wᵀ + b over the last axis. Two-dimensional inputs take Gemm, which reads the file's [out, in] layout as it is;
 * token sequences are folded to two dimensions and back, which costs nothing.
 */
export function linear(
  g: GraphBuilder,
  x: Value,
  name: string,
  inFeatures: number,
  outFeatures: number,
  { rank = 3, bias = true, convolution = false, precise = false, few = rank === 2 }: LinearOptions = {},
): Value {
  const weightName = `${name}.weight`;
  const shape = convolution ? [outFeatures, inFeatures, 1, 1] : [outFeatures, inFeatures];
  const quantised = quantisedLinear(g, x, weightName, inFeatures, outFeatures);
  // single rows (time embeddings) gain nothing, and the whole net hangs on them
  const rounded = quantised || precise || rank === 2 ? undefined : int8Linear(g, x, name, shape, bias);
  if (rounded) return rounded;
  const blocked = few && !quantised ? blockedLinear(g, x, name, [outFeatures, inFeatures], { rank, bias }) : undefined;
  if (blocked) return blocked;
  const biasValue = bias ? g.parameter(`${name}.bias`, [outFeatures]) : undefined;
  if (quantised) return biasValue ? add(g, quantised, biasValue) : quantised;
  const weight = g.parameter(weightName, shape, [outFeatures, inFeatures]);
  if (rank === 2) return g.node("Gemm", [x, weight, biasValue], { transB: 1 });
  const flat = g.node("Gemm", [reshape(g, x, [-1, inFeatures]), weight, biasValue], { transB: 1 });
  const head = g.node("Shape", [x], { start: 0, end: 2 }, "int64");
  return g.node("Reshape", [flat, concat(g, [head, g.constantInts([outFeatures])], 0)]);
}

/** The gated layer of transformers, (value * gelu(gate)) W + b, where `net.0.proj` gives value and gate one after the other. */
export function gatedFeedForward(g: GraphBuilder, x: Value, name: string, channels: number, inner: number): Value {
  const [first, out] = [`${name}.net.0.proj`, `${name}.net.2`];
  let value: Value;
  let gate: Value;
  if (g.options.target === "cpu") {
    // as two layers: cutting a result in two would take longer than its additions
    const names = { value: `${first}.value`, gate: `${first}.gate`, out };
    g.splitRows(`${first}.weight`, [2 * inner, channels], [`${names.value}.weight`, `${names.gate}.weight`]);
    g.splitRows(`${first}.bias`, [2 * inner], [`${names.value}.bias`, `${names.gate}.bias`]);
    const blocked = blockedFeedForward(g, x, names, channels, inner);
    if (blocked) return blocked;
    [value, gate] = [linear(g, x, names.value, channels, inner), linear(g, x, names.gate, channels, inner)];
  } else {
    [value, gate] = halve(g, linear(g, x, first, channels, 2 * inner), -1);
  }
  // products of two values: a few are far larger than the others, which one scale for all would round away
  return linear(g, multiply(g, value, gelu(g, gate)), out, inner, channels, { precise: true });
}

export interface Conv2dOptions {
  readonly kernel?: number;
  readonly stride?: number;
  readonly padding?: number;
  readonly bias?: boolean;
  /** this layer stays as it is where the graph asks for int8 */
  readonly precise?: boolean;
}

export function conv2d(
  g: GraphBuilder,
  x: Value,
  name: string,
  inChannels: number,
  outChannels: number,
  { kernel = 3, stride = 1, padding = kernel >> 1, bias = true, precise = false }: Conv2dOptions = {},
): Value {
  const shape = [outChannels, inChannels, kernel, kernel] as const;
  const attributes = {
    kernel_shape: [kernel, kernel],
    strides: [stride, stride],
    pads: [padding, padding, padding, padding],
  };
  const rounded = precise ? undefined : int8Convolution(g, x, name, shape, { stride, padding, bias });
  if (rounded) return rounded;
  const blocked = blockedConvolution(g, x, name, shape, bias, attributes);
  if (blocked) return blocked;
  const weight = g.parameter(`${name}.weight`, shape, shape);
  const biasValue = bias ? g.parameter(`${name}.bias`, [outChannels]) : undefined;
  return g.node("Conv", [x, weight, biasValue], attributes);
}

/** A 3x3 convolution over `x` doubled by repeating its pixels; where kernels allow it by a shorter way (corner-filters.ts). */
export function doublingConv2d(
  g: GraphBuilder,
  x: Value,
  name: string,
  inChannels: number,
  outChannels: number,
): Value {
  const shape = [outChannels, inChannels, 3, 3] as const;
  const short = int8Doubling(g, x, name, shape) ?? blockedDoubling(g, x, name, shape);
  return short ?? conv2d(g, upsampleNearest(g, x, 2), name, inChannels, outChannels);
}

/**
 * Groups become instances, then the channels' own scale and shift follow: the form every provider has,
 * and on a CPU up to a fifth faster than GroupNormalization, which is taken apart into more pieces.
 */
export function groupNorm(
  g: GraphBuilder,
  x: Value,
  name: string,
  channels: number,
  groups: number,
  epsilon: number,
): Value {
  const ones = g.constantFloats(new Float32Array(groups).fill(1));
  const zeros = g.constantFloats(new Float32Array(groups));
  const grouped = reshape(g, x, [0, groups, -1]);
  const normal = g.node("InstanceNormalization", [grouped, ones, zeros], { epsilon: { float: epsilon } });
  const scale = g.parameter(`${name}.weight`, [channels], [channels, 1, 1]);
  const shift = g.parameter(`${name}.bias`, [channels], [channels, 1, 1]);
  return add(g, multiply(g, reshapeLike(g, normal, x), scale), shift);
}

export function layerNorm(g: GraphBuilder, x: Value, name: string, size: number, epsilon: number): Value {
  const scale = g.parameter(`${name}.weight`, [size]);
  const shift = g.parameter(`${name}.bias`, [size]);
  return g.node("LayerNormalization", [x, scale, shift], { axis: -1, epsilon: { float: epsilon } });
}

export interface AttentionOptions {
  readonly heads: number;
  /** multiplies the scores before the softmax */
  readonly scale: number;
  /** added to the scores: [1, 1, queries, keys] */
  readonly bias?: Value;
  /** do the softmax and its products in float32 even where the graph computes in float16 */
  readonly upcast?: boolean;
}

/** softmax(q kᵀ scale + bias) v over [batch, tokens, heads * size], without ever holding the whole score matrix. */
export function attention(g: GraphBuilder, q: Value, k: Value, v: Value, options: AttentionOptions): Value {
  const { heads, scale, bias, upcast = false } = options;
  const wide = upcast && g.computeType === "float16";
  const inputs = wide ? [q, k, v].map((value) => g.cast(value, "float32")) : [q, k, v];
  const result = g.contribNode("MultiHeadAttention", [...inputs, undefined, undefined, bias], {
    num_heads: heads,
    scale: { float: scale },
  });
  return wide ? g.cast(result, g.computeType) : result;
}

/** [batch, channels, height, width] to [batch, height * width, channels]. */
export function imageToTokens(g: GraphBuilder, x: Value, channels: number): Value {
  return transpose(g, reshape(g, x, [0, channels, -1]), [0, 2, 1]);
}

/** The way back, to the shape of `like`. */
export function tokensToImage(g: GraphBuilder, tokens: Value, like: Value): Value {
  return reshapeLike(g, transpose(g, tokens, [0, 2, 1]), like);
}

export interface TimestepOptions {
  readonly size: number;
  /** cosines first: what Stable Diffusion's nets were trained with */
  readonly flipSinToCos: boolean;
  readonly freqShift: number;
}

const LONGEST_PERIOD = 10_000;

/** Sines and cosines of a number (time step, picture size) at geometric frequencies: [n] to [n, size]; always in float32. */
export function sinusoidalEmbedding(g: GraphBuilder, numbers: Value, options: TimestepOptions): Value {
  const half = options.size >> 1;
  const frequencies = Array.from({ length: half }, (_, i) =>
    Math.exp((-Math.log(LONGEST_PERIOD) * i) / (half - options.freqShift)),
  );
  const angles = multiply(g, unsqueeze(g, numbers, [-1]), g.constantFloat32(frequencies, [1, half]));
  const waves = options.flipSinToCos ? [cosine(g, angles), sine(g, angles)] : [sine(g, angles), cosine(g, angles)];
  return g.cast(concat(g, waves, -1), g.computeType);
}

/** Rows of a table by index. The rows are converted after they are picked: a vocabulary is large, a prompt is not. */
export function embedding(g: GraphBuilder, indices: Value, name: string, rows: number, size: number): Value {
  const table = g.rawParameter(`${name}.weight`, [rows, size]);
  if (table === undefined) return { name, type: g.computeType };
  return g.cast(gather(g, table, indices), g.computeType);
}
