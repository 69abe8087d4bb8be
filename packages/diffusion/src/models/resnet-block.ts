/** The residual block that UNets and autoencoders share (diffusers' ResnetBlock2D). */
import {
  add,
  conv2d,
  type GraphBuilder,
  gelu,
  groupNorm,
  linear,
  multiply,
  relu,
  reshape,
  silu,
  slice,
  type Value,
} from "@kit/onnx-graph";

export type Activation = "silu" | "swish" | "gelu" | "relu";
export const ACTIVATIONS: readonly Activation[] = ["silu", "swish", "gelu", "relu"];

export function activate(g: GraphBuilder, x: Value, activation: Activation): Value {
  switch (activation) {
    case "silu":
    case "swish":
      return silu(g, x);
    case "gelu":
      return gelu(g, x);
    case "relu":
      return relu(g, x);
  }
}

export interface ResnetOptions {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly groups: number;
  readonly epsilon: number;
  readonly activation: Activation;
  /** the activated time embedding, and how it enters */
  readonly time?: { readonly embedding: Value; readonly size: number; readonly mode: "default" | "scale_shift" };
  readonly outputScale?: number;
}

export function resnetBlock(g: GraphBuilder, x: Value, name: string, options: ResnetOptions): Value {
  const { inChannels, outChannels, groups, epsilon, activation, time, outputScale = 1 } = options;
  const first = activate(g, groupNorm(g, x, `${name}.norm1`, inChannels, groups, epsilon), activation);
  let h = conv2d(g, first, `${name}.conv1`, inChannels, outChannels);
  const shift = time && timeShift(g, name, time, outChannels);
  if (shift && time.mode === "default") h = add(g, h, shift);
  h = groupNorm(g, h, `${name}.norm2`, outChannels, groups, epsilon);
  if (shift && time.mode === "scale_shift") {
    const scale = add(g, slice(g, shift, 1, 0, outChannels), g.constantFloats([1]));
    h = add(g, multiply(g, h, scale), slice(g, shift, 1, outChannels, 2 * outChannels));
  }
  h = conv2d(g, activate(g, h, activation), `${name}.conv2`, outChannels, outChannels);
  const short = inChannels === outChannels ? x : shortcut(g, x, name, inChannels, outChannels);
  const sum = add(g, short, h);
  return g.tap(name, outputScale === 1 ? sum : multiply(g, sum, g.constantFloats([1 / outputScale])));
}

/** Precise: whatever is rounded here passes every later layer by, and the input is the sum of all before, of very different sizes. */
function shortcut(g: GraphBuilder, x: Value, name: string, inChannels: number, outChannels: number): Value {
  return conv2d(g, x, `${name}.conv_shortcut`, inChannels, outChannels, { kernel: 1, precise: true });
}

function timeShift(g: GraphBuilder, name: string, time: NonNullable<ResnetOptions["time"]>, channels: number): Value {
  const width = time.mode === "scale_shift" ? 2 * channels : channels;
  const projected = linear(g, time.embedding, `${name}.time_emb_proj`, time.size, width, { rank: 2 });
  return reshape(g, projected, [0, width, 1, 1]);
}
