/**
 * Linear layers as 1x1 convolutions on onnxruntime's blocked kernels: as fast as its packed matrix products, but packing takes the runtime as long as all else
 * that is done when a net is loaded, in one thread. Tokens have to be put in order before and after, so it pays where several layers follow each other,
 * and where there are few tokens.
 */
import { isBlockType } from "@kit/tensor-files";
import { addBlockedFilters } from "./blocked-convolution.js";
import type { GraphBuilder, Value } from "./graph-builder.js";
import { gelu, multiply, reshape, transpose } from "./operators.js";

/** Whether these layers, by their names, are better convolutions. Those in bytes or blocks of bits have kernels of their own. */
export function prefersConvolutions(g: GraphBuilder, ...layers: readonly string[]): boolean {
  const { filterBlock, int8, quantise } = g.options;
  if (filterBlock === undefined || int8 || quantise) return false;
  return layers.every((layer) => {
    const tensor = g.get(`${layer}.weight`);
    return tensor === undefined || !isBlockType(tensor.dtype);
  });
}

/** A layer over the last axis of [rows, inputs] or [batch, tokens, inputs], or undefined where it stays a linear one. */
export function blockedLinear(
  g: GraphBuilder,
  x: Value,
  name: string,
  [outputs, inputs]: readonly [outputs: number, inputs: number],
  { rank, bias }: { readonly rank: 2 | 3; readonly bias: boolean },
): Value | undefined {
  if (!fitsBlocks(g, inputs, outputs) || !prefersConvolutions(g, name)) return undefined;
  const result = convolve(
    g,
    rank === 2 ? orderRows(g, x, inputs) : orderTokens(g, x, inputs),
    name,
    [outputs, inputs],
    bias,
  );
  return rank === 2 ? reshape(g, result, [0, outputs]) : toTokens(g, result, outputs);
}

export interface FeedForwardNames {
  readonly value: string;
  readonly gate: string;
  readonly out: string;
}

/** The gated feed-forward net over tokens [batch, tokens, channels], or undefined where its layers stay linear ones. */
export function blockedFeedForward(
  g: GraphBuilder,
  x: Value,
  { value, gate, out }: FeedForwardNames,
  channels: number,
  inner: number,
): Value | undefined {
  if (!fitsBlocks(g, channels, inner) || !prefersConvolutions(g, value, gate, out)) return undefined;
  const tokens = orderTokens(g, x, channels);
  const half = (name: string): Value => convolveBlocked(g, tokens, name, [inner, channels], true);
  const gated = multiply(g, half(value), gelu(g, half(gate)));
  return toTokens(g, convolve(g, gated, out, [channels, inner], true), channels);
}

function fitsBlocks({ options: { filterBlock } }: GraphBuilder, inputs: number, outputs: number): boolean {
  return filterBlock !== undefined && inputs % filterBlock === 0 && outputs % filterBlock === 0;
}

/** Rows become pictures of one pixel, tokens a picture of one column. */
function orderRows(g: GraphBuilder, x: Value, channels: number): Value {
  return g.blockedNode("ReorderInput", [reshape(g, x, [0, channels, 1, 1])]);
}

function orderTokens(g: GraphBuilder, x: Value, channels: number): Value {
  return g.blockedNode("ReorderInput", [reshape(g, x, [0, 0, 1, channels])], { channels_last: 1 });
}

function convolveBlocked(
  g: GraphBuilder,
  x: Value,
  name: string,
  [outputs, inputs]: readonly [outputs: number, inputs: number],
  bias: boolean,
): Value {
  const weight = addBlockedFilters(g, name, [outputs, inputs, 1, 1], g.options.filterBlock!);
  const shift = bias ? g.parameter(`${name}.bias`, [outputs]) : undefined;
  return g.blockedNode("Conv", [x, weight, shift], { kernel_shape: [1, 1] });
}

/** The same, as a plain picture. */
function convolve(g: GraphBuilder, x: Value, name: string, shape: readonly [number, number], bias: boolean): Value {
  return g.blockedNode("ReorderOutput", [convolveBlocked(g, x, name, shape, bias)], { channels: shape[0] });
}

/** ReorderOutput can put channels last itself, but takes twice as long for it. */
function toTokens(g: GraphBuilder, picture: Value, channels: number): Value {
  return transpose(g, reshape(g, picture, [0, channels, -1]), [0, 2, 1]);
}
