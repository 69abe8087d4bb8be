/**
 * UNet2DConditionModel (diffusers): the denoiser of Stable Diffusion 1.x, 2.x and XL, their Turbo, LCM, Lightning and inpainting kin.
 * Driven by config.json alone; a field whose value changes the net in a way not built here is refused by name.
 * Reference: "High-Resolution Image Synthesis with Latent Diffusion Models", Rombach et al. 2022.
 */
import {
  add,
  attention,
  type BuiltGraph,
  concat,
  conv2d,
  doublingConv2d,
  GraphBuilder,
  type GraphOptions,
  gatedFeedForward,
  groupNorm,
  imageToTokens,
  layerNorm,
  linear,
  multiply,
  padImage,
  prefersConvolutions,
  reshape,
  sinusoidalEmbedding,
  subtract,
  tokensToImage,
  upsampleNearestLike,
  type Value,
} from "@kit/onnx-graph";
import type { TensorSource } from "@kit/tensor-files";
import { ConfigReader } from "./read-config.js";
import { ACTIVATIONS, type Activation, activate, resnetBlock } from "./resnet-block.js";

const DOWN_BLOCKS = ["DownBlock2D", "CrossAttnDownBlock2D"] as const;
const UP_BLOCKS = ["UpBlock2D", "CrossAttnUpBlock2D"] as const;
const MID_BLOCKS = ["UNetMidBlock2DCrossAttn", "UNetMidBlock2D"] as const;

interface BlockConfig {
  readonly channels: number;
  readonly attends: boolean;
  /** transformer blocks in each of the block's layers; its length is the number of layers */
  readonly transformers: readonly number[];
  readonly heads: number;
  readonly crossAttentionDim: number;
  readonly onlyCrossAttention: boolean;
}

export interface UNetConfig {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly centerInput: boolean;
  readonly flipSinToCos: boolean;
  readonly freqShift: number;
  readonly downBlocks: readonly BlockConfig[];
  /** undefined: no middle at all */
  readonly midBlock: BlockConfig | undefined;
  readonly upBlocks: readonly BlockConfig[];
  readonly downsamplePadding: number;
  readonly midScale: number;
  readonly activation: Activation;
  readonly groups: number;
  readonly epsilon: number;
  readonly linearProjection: boolean;
  readonly upcastAttention: boolean;
  readonly timeScaleShift: "default" | "scale_shift";
  readonly timeEmbedDim: number;
  /** size of the guidance embedding that LCM nets take; undefined for the others */
  readonly timeCondProjDim: number | undefined;
  /** SDXL's pooled text and picture sizes; undefined for the others */
  readonly textTime: { readonly timeEmbedDim: number; readonly inputDim: number } | undefined;
  readonly convInKernel: number;
  readonly convOutKernel: number;
  readonly crossAttentionDim: number;
  /** side of the latents the net was trained on, where the file says so */
  readonly sampleSize: number | undefined;
}

/** Features no published text-to-image checkpoint of this family needs; each is refused unless it is off. */
const REFUSED: readonly (readonly [field: string, off: readonly unknown[]])[] = [
  ["num_attention_heads", []],
  ["dual_cross_attention", [false]],
  ["class_embed_type", []],
  ["num_class_embeds", []],
  ["class_embeddings_concat", [false]],
  ["encoder_hid_dim", []],
  ["encoder_hid_dim_type", []],
  ["resnet_skip_time_act", [false]],
  ["resnet_out_scale_factor", [1]],
  ["time_embedding_type", ["positional"]],
  ["time_embedding_act_fn", []],
  ["timestep_post_act", []],
  ["attention_type", ["default"]],
  ["cross_attention_norm", []],
];

export function readUNetConfig(json: Readonly<Record<string, unknown>>, origin: string): UNetConfig {
  const config = new ConfigReader(json, origin);
  config.oneOf("_class_name", ["UNet2DConditionModel"], "UNet2DConditionModel");
  for (const [field, off] of REFUSED) config.refuse(field, off);
  const channels = config.sizes("block_out_channels", [320, 640, 1280, 1280]);
  const groups = config.size("norm_num_groups", 32);
  for (const size of channels) {
    if (size % groups !== 0)
      throw config.fail("block_out_channels", `each must be a multiple of ${groups} (norm_num_groups)`);
  }
  const blocks = readBlocks(config, channels);
  return {
    ...blocks,
    inChannels: config.size("in_channels", 4),
    outChannels: config.size("out_channels", 4),
    centerInput: config.boolean("center_input_sample", false),
    flipSinToCos: config.boolean("flip_sin_to_cos", true),
    freqShift: config.number("freq_shift", 0),
    downsamplePadding: config.integer("downsample_padding", 1),
    midScale: config.number("mid_block_scale_factor", 1),
    activation: config.oneOf("act_fn", ACTIVATIONS, "silu"),
    groups,
    epsilon: config.number("norm_eps", 1e-5),
    linearProjection: config.boolean("use_linear_projection", false),
    upcastAttention: config.boolean("upcast_attention", false),
    timeScaleShift: config.oneOf("resnet_time_scale_shift", ["default", "scale_shift"], "default"),
    timeEmbedDim: config.optionalInteger("time_embedding_dim") ?? channels[0]! * 4,
    timeCondProjDim: config.optionalInteger("time_cond_proj_dim"),
    textTime: readTextTime(config),
    convInKernel: config.size("conv_in_kernel", 3),
    convOutKernel: config.size("conv_out_kernel", 3),
    crossAttentionDim: blocks.downBlocks[0]!.crossAttentionDim,
    sampleSize: config.optionalInteger("sample_size"),
  };
}

function readTextTime(config: ConfigReader): UNetConfig["textTime"] {
  if (!config.has("addition_embed_type")) return undefined;
  config.oneOf("addition_embed_type", ["text_time"]);
  return {
    timeEmbedDim: config.size("addition_time_embed_dim"),
    inputDim: config.size("projection_class_embeddings_input_dim"),
  };
}

function readBlocks(
  config: ConfigReader,
  channels: readonly number[],
): Pick<UNetConfig, "downBlocks" | "midBlock" | "upBlocks"> {
  const count = channels.length;
  const cross = "CrossAttnDownBlock2D" as const;
  const down = config.texts("down_block_types", DOWN_BLOCKS, [cross, cross, cross, "DownBlock2D"]);
  const crossUp = "CrossAttnUpBlock2D" as const;
  const up = config.texts("up_block_types", UP_BLOCKS, ["UpBlock2D", crossUp, crossUp, crossUp]);
  for (const [field, list] of Object.entries({ down_block_types: down, up_block_types: up })) {
    if (list.length !== count)
      throw config.fail(field, `expected ${count} entries, one for each of block_out_channels`);
  }
  const layers = config.sizePerBlock("layers_per_block", count, 2);
  // the field's name is a historic mistake: it holds the number of heads
  const heads = config.sizePerBlock("attention_head_dim", count, 8);
  const crossDims = config.sizePerBlock("cross_attention_dim", count, 1280);
  const only = config.booleanPerBlock("only_cross_attention", count, false);
  const transformers = config.sizesPerLayer("transformer_layers_per_block", layers, 1);
  const upTransformers = readUpTransformers(config, layers, transformers);
  const block = (i: number, attends: boolean, counts: readonly number[]): BlockConfig => ({
    channels: channels[i]!,
    attends,
    transformers: counts,
    heads: heads[i]!,
    crossAttentionDim: crossDims[i]!,
    onlyCrossAttention: only[i]!,
  });
  const last = count - 1;
  const middle =
    config.json["mid_block_type"] === null ? undefined : config.oneOf("mid_block_type", MID_BLOCKS, MID_BLOCKS[0]);
  return {
    downBlocks: channels.map((_, i) => block(i, down[i] === cross, transformers[i]!)),
    midBlock: middle && {
      ...block(last, middle === MID_BLOCKS[0], [transformers[last]![0]!]),
      onlyCrossAttention: false,
    },
    upBlocks: channels.map((_, i) => block(last - i, up[i] === crossUp, upTransformers[i]!)),
  };
}

/** Up blocks have a layer more than their down blocks; lists of lists must say both ways. */
function readUpTransformers(
  config: ConfigReader,
  layers: readonly number[],
  transformers: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  const upLayers = [...layers].reverse().map((count) => count + 1);
  const reverse = "reverse_transformer_layers_per_block";
  if (config.has(reverse)) return config.sizesPerLayer(reverse, upLayers, 1);
  const listed = config.json["transformer_layers_per_block"];
  if (Array.isArray(listed) && listed.some(Array.isArray)) {
    throw config.fail(reverse, "it is needed where transformer_layers_per_block holds lists");
  }
  const reversed = [...transformers].reverse();
  return upLayers.map((count, i) => Array.from({ length: count }, () => reversed[i]![0]!));
}

/** What every block of the net sees. */
interface Conditions {
  readonly config: UNetConfig;
  /** the activated time embedding [B or 1, timeEmbedDim] */
  readonly time: Value;
  /** the text [B, tokens, crossAttentionDim] */
  readonly text: Value;
}

interface Skip {
  readonly value: Value;
  readonly channels: number;
}

/**
 * Inputs: "sample" [B, in, H, W], "timestep" [1 or B], "encoder_hidden_states" [B, tokens, dim]; SDXL also "text_embeds" [B, pooled] and
 * "time_ids" [B, 6]; LCM also "timestep_cond" [B, dim]. All float32. Output: "out_sample" [B, out, H, W].
 */
export function buildUNet2DConditionModel(config: UNetConfig, source: TensorSource, options: GraphOptions): BuiltGraph {
  const g = new GraphBuilder("unet", source, options);
  const sample = g.input("sample", "float32", ["B", config.inChannels, "H", "W"]);
  const timestep = g.input("timestep", "float32", ["T"]);
  const states = g.input("encoder_hidden_states", "float32", ["B", "tokens", config.crossAttentionDim]);
  const text = g.cast(states, g.computeType);
  const time = activate(g, g.tap("emb", embedTime(g, timestep, config), 2), config.activation);
  const conditions: Conditions = { config, time, text };

  let x = g.cast(sample, g.computeType);
  if (config.centerInput) x = subtract(g, multiply(g, x, g.constantFloats([2])), g.constantFloats([1]));
  const first = config.downBlocks[0]!.channels;
  x = g.tap("conv_in", conv2d(g, x, "conv_in", config.inChannels, first, { kernel: config.convInKernel }));
  const skips: Skip[] = [{ value: x, channels: first }];
  let channels = first;
  for (let i = 0; i < config.downBlocks.length; i++) {
    x = downBlock(g, x, i, channels, skips, conditions);
    channels = config.downBlocks[i]!.channels;
  }
  if (config.midBlock) x = g.tap("mid_block", midBlock(g, x, config.midBlock, conditions));
  for (let i = 0; i < config.upBlocks.length; i++) {
    x = upBlock(g, x, i, channels, skips, conditions);
    channels = config.upBlocks[i]!.channels;
  }
  x = activate(g, groupNorm(g, x, "conv_norm_out", channels, config.groups, config.epsilon), config.activation);
  x = conv2d(g, x, "conv_out", channels, config.outChannels, { kernel: config.convOutKernel });
  g.output("out_sample", x, ["B", config.outChannels, "H", "W"]);
  return g.build();
}

function embedTime(g: GraphBuilder, timestep: Value, config: UNetConfig): Value {
  const size = config.downBlocks[0]!.channels;
  const { flipSinToCos, freqShift, timeEmbedDim, timeCondProjDim, textTime } = config;
  let waves = sinusoidalEmbedding(g, timestep, { size, flipSinToCos, freqShift });
  if (timeCondProjDim) {
    const condition = g.cast(g.input("timestep_cond", "float32", ["B", timeCondProjDim]), g.computeType);
    const projected = linear(g, condition, "time_embedding.cond_proj", timeCondProjDim, size, { rank: 2, bias: false });
    waves = add(g, waves, projected);
  }
  const embedded = twoLayers(g, waves, "time_embedding", size, timeEmbedDim, config.activation);
  if (!textTime) return embedded;
  const pooled = g.cast(g.input("text_embeds", "float32", ["B", "pooled"]), g.computeType);
  const ids = g.input("time_ids", "float32", ["B", "ids"]);
  const idWaves = sinusoidalEmbedding(g, ids, { size: textTime.timeEmbedDim, flipSinToCos, freqShift });
  const joined = concat(g, [pooled, reshape(g, idWaves, [0, -1])], -1);
  return add(g, embedded, twoLayers(g, joined, "add_embedding", textTime.inputDim, timeEmbedDim, "silu"));
}

function twoLayers(
  g: GraphBuilder,
  x: Value,
  name: string,
  inFeatures: number,
  outFeatures: number,
  activation: Activation,
): Value {
  const first = linear(g, x, `${name}.linear_1`, inFeatures, outFeatures, { rank: 2 });
  return linear(g, activate(g, first, activation), `${name}.linear_2`, outFeatures, outFeatures, { rank: 2 });
}

function downBlock(
  g: GraphBuilder,
  input: Value,
  index: number,
  inChannels: number,
  skips: Skip[],
  conditions: Conditions,
): Value {
  const { config } = conditions;
  const block = config.downBlocks[index]!;
  const name = `down_blocks.${index}`;
  let x = input;
  for (let layer = 0; layer < block.transformers.length; layer++) {
    x = layerOf(g, x, name, layer, layer === 0 ? inChannels : block.channels, block, conditions);
    skips.push({ value: x, channels: block.channels });
  }
  if (index < config.downBlocks.length - 1) {
    x = downsample(g, x, `${name}.downsamplers.0.conv`, block.channels, config.downsamplePadding);
    skips.push({ value: x, channels: block.channels });
  }
  return g.tap(name, x);
}

function downsample(g: GraphBuilder, x: Value, name: string, channels: number, padding: number): Value {
  const padded = padding === 0 ? padImage(g, x, 0, 1, 0, 1) : x;
  return conv2d(g, padded, name, channels, channels, { stride: 2, padding });
}

function midBlock(g: GraphBuilder, input: Value, block: BlockConfig, conditions: Conditions): Value {
  const name = "mid_block";
  const scale = conditions.config.midScale;
  let x = resnet(g, input, `${name}.resnets.0`, block.channels, block.channels, conditions, scale);
  if (!block.attends) return x;
  x = transformer(g, x, `${name}.attentions.0`, block, block.transformers[0]!, conditions);
  return resnet(g, x, `${name}.resnets.1`, block.channels, block.channels, conditions, scale);
}

function upBlock(
  g: GraphBuilder,
  input: Value,
  index: number,
  inChannels: number,
  skips: Skip[],
  conditions: Conditions,
): Value {
  const { config } = conditions;
  const block = config.upBlocks[index]!;
  const name = `up_blocks.${index}`;
  let x = input;
  let channels = inChannels;
  for (let layer = 0; layer < block.transformers.length; layer++) {
    const skip = skips.pop()!;
    x = concat(g, [x, skip.value], 1);
    x = layerOf(g, x, name, layer, channels + skip.channels, block, conditions);
    channels = block.channels;
  }
  if (index < config.upBlocks.length - 1) {
    const upsampler = `${name}.upsamplers.0.conv`;
    x = g.options.evenSides
      ? doublingConv2d(g, x, upsampler, channels, channels)
      : conv2d(g, upsampleNearestLike(g, x, skips.at(-1)!.value), upsampler, channels, channels);
  }
  return g.tap(name, x);
}

/** One resnet and, where the block attends, the transformer after it. */
function layerOf(
  g: GraphBuilder,
  x: Value,
  name: string,
  layer: number,
  inChannels: number,
  block: BlockConfig,
  conditions: Conditions,
): Value {
  const h = resnet(g, x, `${name}.resnets.${layer}`, inChannels, block.channels, conditions);
  if (!block.attends) return h;
  return transformer(g, h, `${name}.attentions.${layer}`, block, block.transformers[layer]!, conditions);
}

function resnet(
  g: GraphBuilder,
  x: Value,
  name: string,
  inChannels: number,
  outChannels: number,
  conditions: Conditions,
  outputScale = 1,
): Value {
  const { groups, epsilon, activation, timeScaleShift, timeEmbedDim } = conditions.config;
  const time = { embedding: conditions.time, size: timeEmbedDim, mode: timeScaleShift };
  return resnetBlock(g, x, name, { inChannels, outChannels, groups, epsilon, activation, time, outputScale });
}

/** Epsilon of the transformers' group norm, which no config field sets. */
const TRANSFORMER_NORM_EPS = 1e-6;

/** Transformer2DModel: pictures become tokens, which attend to each other and to the text. A 1x1 convolution is the same as a linear layer on tokens. */
function transformer(
  g: GraphBuilder,
  x: Value,
  name: string,
  block: BlockConfig,
  depth: number,
  conditions: Conditions,
): Value {
  const { channels } = block;
  const { groups, linearProjection } = conditions.config;
  const convolution = !linearProjection;
  const normed = groupNorm(g, x, `${name}.norm`, channels, groups, TRANSFORMER_NORM_EPS);
  const [first, last] = [`${name}.proj_in`, `${name}.proj_out`];
  const pointwise = prefersConvolutions(g, first, last);
  let tokens = pointwise
    ? imageToTokens(g, conv2d(g, normed, first, channels, channels, { kernel: 1 }), channels)
    : linear(g, imageToTokens(g, normed, channels), first, channels, channels, { convolution });
  for (let i = 0; i < depth; i++) {
    tokens = transformerBlock(g, tokens, `${name}.transformer_blocks.${i}`, block, conditions);
  }
  // a sum of many layers, of very different sizes: one scale for all of it would show in the picture
  const projected = pointwise
    ? conv2d(g, tokensToImage(g, tokens, x), last, channels, channels, { kernel: 1 })
    : tokensToImage(g, linear(g, tokens, last, channels, channels, { convolution, precise: true }), x);
  return g.tap(name, add(g, projected, x));
}

const LAYER_NORM_EPS = 1e-5;
/** The feed-forward layer is so many times as wide as the tokens. */
const FEED_FORWARD_FACTOR = 4;

function transformerBlock(g: GraphBuilder, x: Value, name: string, block: BlockConfig, conditions: Conditions): Value {
  const { channels, crossAttentionDim, onlyCrossAttention } = block;
  const { text } = conditions;
  const norm = (value: Value, index: number): Value =>
    layerNorm(g, value, `${name}.norm${index}`, channels, LAYER_NORM_EPS);
  const first = norm(x, 1);
  const [context, contextDim] = onlyCrossAttention ? [text, crossAttentionDim] : [first, channels];
  let h = add(g, x, attend(g, first, context, contextDim, `${name}.attn1`, block, conditions));
  h = add(g, h, attend(g, norm(h, 2), text, crossAttentionDim, `${name}.attn2`, block, conditions));
  return add(g, h, gatedFeedForward(g, norm(h, 3), `${name}.ff`, channels, channels * FEED_FORWARD_FACTOR));
}

function attend(
  g: GraphBuilder,
  x: Value,
  context: Value,
  contextDim: number,
  name: string,
  block: BlockConfig,
  conditions: Conditions,
): Value {
  const { channels, heads } = block;
  const few = context === conditions.text;
  const q = linear(g, x, `${name}.to_q`, channels, channels, { bias: false });
  const k = linear(g, context, `${name}.to_k`, contextDim, channels, { bias: false, few });
  const v = linear(g, context, `${name}.to_v`, contextDim, channels, { bias: false, few });
  const upcast = conditions.config.upcastAttention;
  const mixed = attention(g, q, k, v, { heads, scale: (channels / heads) ** -0.5, upcast });
  return linear(g, mixed, `${name}.to_out.0`, channels, channels);
}
