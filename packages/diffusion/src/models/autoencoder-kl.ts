/**
 * AutoencoderKL (diffusers): pictures to latents and back, for the Stable Diffusion family.
 * Reference: "High-Resolution Image Synthesis with Latent Diffusion Models", Rombach et al. 2022.
 */
import {
  add,
  attention,
  type BuiltGraph,
  clip,
  conv2d,
  doublingConv2d,
  GraphBuilder,
  type GraphOptions,
  groupNorm,
  halve,
  imageToTokens,
  linear,
  padImage,
  tokensToImage,
  type Value,
} from "@kit/onnx-graph";
import type { TensorSource } from "@kit/tensor-files";
import { ConfigReader } from "./read-config.js";
import { ACTIVATIONS, type Activation, activate, resnetBlock } from "./resnet-block.js";

export interface AutoencoderKLConfig {
  readonly kind: "kl";
  readonly inChannels: number;
  readonly outChannels: number;
  readonly blockOutChannels: readonly number[];
  readonly layersPerBlock: number;
  readonly activation: Activation;
  readonly latentChannels: number;
  readonly groups: number;
  readonly quantConv: boolean;
  readonly postQuantConv: boolean;
  readonly midAttention: boolean;
  /** the denoiser sees (latents - shiftFactor) * scalingFactor */
  readonly scalingFactor: number;
  readonly shiftFactor: number;
  /** overflows in half precision: run it in float32 even on a GPU */
  readonly forceUpcast: boolean;
  /** pixels per latent, each way */
  readonly factor: number;
  readonly sampleSize: number | undefined;
}

export function readAutoencoderKLConfig(json: Readonly<Record<string, unknown>>, origin: string): AutoencoderKLConfig {
  const config = new ConfigReader(json, origin);
  config.oneOf("_class_name", ["AutoencoderKL"], "AutoencoderKL");
  const blockOutChannels = config.sizes("block_out_channels", [64]);
  const groups = config.size("norm_num_groups", 32);
  for (const size of blockOutChannels) {
    if (size % groups !== 0)
      throw config.fail("block_out_channels", `each must be a multiple of ${groups} (norm_num_groups)`);
  }
  const down = config.texts("down_block_types", ["DownEncoderBlock2D"], ["DownEncoderBlock2D"]);
  const up = config.texts("up_block_types", ["UpDecoderBlock2D"], ["UpDecoderBlock2D"]);
  for (const [field, list] of Object.entries({ down_block_types: down, up_block_types: up })) {
    if (list.length !== blockOutChannels.length) {
      throw config.fail(field, `expected ${blockOutChannels.length} entries, one for each of block_out_channels`);
    }
  }
  return {
    kind: "kl",
    inChannels: config.size("in_channels", 3),
    outChannels: config.size("out_channels", 3),
    blockOutChannels,
    layersPerBlock: config.size("layers_per_block", 1),
    activation: config.oneOf("act_fn", ACTIVATIONS, "silu"),
    latentChannels: config.size("latent_channels", 4),
    groups,
    quantConv: config.boolean("use_quant_conv", true),
    postQuantConv: config.boolean("use_post_quant_conv", true),
    midAttention: config.boolean("mid_block_add_attention", true),
    scalingFactor: config.number("scaling_factor", 0.18215),
    shiftFactor: config.number("shift_factor", 0),
    forceUpcast: config.boolean("force_upcast", true),
    factor: 2 ** (blockOutChannels.length - 1),
    sampleSize: config.optionalInteger("sample_size"),
  };
}

/** Input "sample" [B, 3, H, W] in -1..1; outputs "mean" and "logvar" [B, latent, H / factor, W / factor]. */
export function buildAutoencoderKLEncoder(
  config: AutoencoderKLConfig,
  source: TensorSource,
  options: GraphOptions,
): BuiltGraph {
  const g = new GraphBuilder("vae_encoder", source, options);
  const { blockOutChannels, latentChannels, activation } = config;
  const last = blockOutChannels.length - 1;
  const sample = g.cast(g.input("sample", "float32", ["B", config.inChannels, "H", "W"]), g.computeType);
  let channels = blockOutChannels[0]!;
  let x = conv2d(g, sample, "encoder.conv_in", config.inChannels, channels);
  for (const [i, size] of blockOutChannels.entries()) {
    const name = `encoder.down_blocks.${i}`;
    for (let layer = 0; layer < config.layersPerBlock; layer++) {
      x = resnet(g, x, `${name}.resnets.${layer}`, channels, size, config);
      channels = size;
    }
    // pads only right and below: what these nets were trained with
    if (i < last) {
      const padded = padImage(g, x, 0, 1, 0, 1);
      x = conv2d(g, padded, `${name}.downsamplers.0.conv`, size, size, { stride: 2, padding: 0 });
    }
    g.tap(name, x);
  }
  x = midBlock(g, x, "encoder.mid_block", channels, config);
  x = activate(g, groupNorm(g, x, "encoder.conv_norm_out", channels, config.groups, EPSILON), activation);
  x = conv2d(g, x, "encoder.conv_out", channels, 2 * latentChannels);
  if (config.quantConv) x = conv2d(g, x, "quant_conv", 2 * latentChannels, 2 * latentChannels, { kernel: 1 });
  const [mean, logvar] = halve(g, x, 1);
  g.output("mean", mean, ["B", latentChannels, "h", "w"]);
  g.output("logvar", clip(g, logvar, MIN_LOGVAR, MAX_LOGVAR), ["B", latentChannels, "h", "w"]);
  return g.build();
}

/** Input "latents" [B, latent, h, w], unscaled; output "sample" [B, 3, h * factor, w * factor], about -1..1. */
export function buildAutoencoderKLDecoder(
  config: AutoencoderKLConfig,
  source: TensorSource,
  options: GraphOptions,
): BuiltGraph {
  const g = new GraphBuilder("vae_decoder", source, options);
  const { latentChannels, activation } = config;
  const reversed = [...config.blockOutChannels].reverse();
  const latents = g.input("latents", "float32", ["B", latentChannels, "h", "w"]);
  let x = g.cast(latents, g.computeType);
  if (config.postQuantConv) x = conv2d(g, x, "post_quant_conv", latentChannels, latentChannels, { kernel: 1 });
  let channels = reversed[0]!;
  x = g.tap("decoder.conv_in", conv2d(g, x, "decoder.conv_in", latentChannels, channels));
  x = midBlock(g, x, "decoder.mid_block", channels, config);
  for (const [i, size] of reversed.entries()) {
    const name = `decoder.up_blocks.${i}`;
    for (let layer = 0; layer <= config.layersPerBlock; layer++) {
      x = resnet(g, x, `${name}.resnets.${layer}`, channels, size, config);
      channels = size;
    }
    if (i < reversed.length - 1) x = doublingConv2d(g, x, `${name}.upsamplers.0.conv`, size, size);
    g.tap(name, x);
  }
  x = activate(g, groupNorm(g, x, "decoder.conv_norm_out", channels, config.groups, EPSILON), activation);
  x = conv2d(g, x, "decoder.conv_out", channels, config.outChannels);
  g.output("sample", x, ["B", config.outChannels, "H", "W"]);
  return g.build();
}

/** Epsilon of every group norm in this net, which no config field sets. */
const EPSILON = 1e-6;
/** The reference clamps the logarithm of the variance to these. */
const MIN_LOGVAR = -30;
const MAX_LOGVAR = 20;

function resnet(
  g: GraphBuilder,
  x: Value,
  name: string,
  inChannels: number,
  outChannels: number,
  { groups, activation }: AutoencoderKLConfig,
): Value {
  return resnetBlock(g, x, name, { inChannels, outChannels, groups, epsilon: EPSILON, activation });
}

function midBlock(g: GraphBuilder, input: Value, name: string, channels: number, config: AutoencoderKLConfig): Value {
  let x = resnet(g, input, `${name}.resnets.0`, channels, channels, config);
  if (config.midAttention) x = midAttention(g, x, `${name}.attentions.0`, channels, config.groups);
  return g.tap(name, resnet(g, x, `${name}.resnets.1`, channels, channels, config));
}

/** One head over all pixels. Files from before diffusers 0.17 call the four layers by other names. */
function midAttention(g: GraphBuilder, x: Value, name: string, channels: number, groups: number): Value {
  const old = g.has(`${name}.query.weight`);
  const [toQ, toK, toV, toOut] = old ? ["query", "key", "value", "proj_attn"] : ["to_q", "to_k", "to_v", "to_out.0"];
  const tokens = imageToTokens(g, groupNorm(g, x, `${name}.group_norm`, channels, groups, EPSILON), channels);
  const project = (value: Value, part: string | undefined): Value =>
    linear(g, value, `${name}.${part}`, channels, channels);
  const q = project(tokens, toQ);
  const k = project(tokens, toK);
  const v = project(tokens, toV);
  const mixed = attention(g, q, k, v, { heads: 1, scale: channels ** -0.5 });
  return g.tap(name, add(g, tokensToImage(g, project(mixed, toOut), x), x));
}
