/** AutoencoderTiny (diffusers; TAESD): a distilled autoencoder that decodes in a fraction of the time, at some loss of detail. */
import {
  add,
  type BuiltGraph,
  conv2d,
  GraphBuilder,
  type GraphOptions,
  multiply,
  subtract,
  tanh,
  upsampleNearest,
  type Value,
} from "@kit/onnx-graph";
import type { TensorSource } from "@kit/tensor-files";
import { ConfigReader } from "./read-config.js";
import { ACTIVATIONS, type Activation, activate } from "./resnet-block.js";

export interface AutoencoderTinyConfig {
  readonly kind: "tiny";
  readonly inChannels: number;
  readonly outChannels: number;
  readonly encoderChannels: readonly number[];
  readonly decoderChannels: readonly number[];
  readonly encoderBlocks: readonly number[];
  readonly decoderBlocks: readonly number[];
  readonly activation: Activation;
  readonly latentChannels: number;
  readonly upsampling: number;
  readonly scalingFactor: number;
  readonly shiftFactor: number;
  readonly forceUpcast: boolean;
  readonly factor: number;
  readonly sampleSize: undefined;
}

const DEFAULT_CHANNELS = [64, 64, 64, 64];

export function readAutoencoderTinyConfig(
  json: Readonly<Record<string, unknown>>,
  origin: string,
): AutoencoderTinyConfig {
  const config = new ConfigReader(json, origin);
  config.oneOf("_class_name", ["AutoencoderTiny"], "AutoencoderTiny");
  config.oneOf("upsample_fn", ["nearest"], "nearest");
  const encoderChannels = config.sizes("encoder_block_out_channels", DEFAULT_CHANNELS);
  const decoderChannels = config.sizes("decoder_block_out_channels", DEFAULT_CHANNELS);
  const encoderBlocks = config.sizes("num_encoder_blocks", [1, 3, 3, 3]);
  const decoderBlocks = config.sizes("num_decoder_blocks", [3, 3, 3, 1]);
  if (encoderBlocks.length !== encoderChannels.length) {
    throw config.fail("num_encoder_blocks", `expected ${encoderChannels.length} entries`);
  }
  if (decoderBlocks.length !== decoderChannels.length) {
    throw config.fail("num_decoder_blocks", `expected ${decoderChannels.length} entries`);
  }
  const upsampling = config.size("upsampling_scaling_factor", 2);
  return {
    kind: "tiny",
    inChannels: config.size("in_channels", 3),
    outChannels: config.size("out_channels", 3),
    encoderChannels,
    decoderChannels,
    encoderBlocks,
    decoderBlocks,
    activation: config.oneOf("act_fn", ACTIVATIONS, "relu"),
    latentChannels: config.size("latent_channels", 4),
    upsampling,
    scalingFactor: config.number("scaling_factor", 1),
    shiftFactor: config.number("shift_factor", 0),
    forceUpcast: config.boolean("force_upcast", false),
    factor: upsampling ** (decoderChannels.length - 1),
    sampleSize: undefined,
  };
}

/** Input "sample" [B, 3, H, W] in -1..1; output "mean" [B, latent, H / factor, W / factor] (there is no variance). */
export function buildAutoencoderTinyEncoder(
  config: AutoencoderTinyConfig,
  source: TensorSource,
  options: GraphOptions,
): BuiltGraph {
  const g = new GraphBuilder("vae_encoder", source, options);
  const { activation } = config;
  const input = g.cast(g.input("sample", "float32", ["B", config.inChannels, "H", "W"]), g.computeType);
  let x = multiply(g, add(g, input, g.constantFloats([1])), g.constantFloats([0.5]));
  let channels = config.inChannels;
  let layer = 0;
  for (const [i, size] of config.encoderChannels.entries()) {
    const name = `encoder.layers.${layer++}`;
    x =
      i === 0
        ? conv2d(g, x, name, channels, size)
        : conv2d(g, x, name, size, size, { stride: 2, padding: 1, bias: false });
    channels = size;
    for (let n = 0; n < config.encoderBlocks[i]!; n++) {
      x = tinyBlock(g, x, `encoder.layers.${layer++}`, size, activation);
    }
  }
  x = conv2d(g, x, `encoder.layers.${layer}`, channels, config.latentChannels);
  g.output("mean", x, ["B", config.latentChannels, "h", "w"]);
  return g.build();
}

/** Input "latents" [B, latent, h, w]; output "sample" [B, 3, h * factor, w * factor], about -1..1. */
export function buildAutoencoderTinyDecoder(
  config: AutoencoderTinyConfig,
  source: TensorSource,
  options: GraphOptions,
): BuiltGraph {
  const g = new GraphBuilder("vae_decoder", source, options);
  const { activation, decoderChannels } = config;
  const latents = g.input("latents", "float32", ["B", config.latentChannels, "h", "w"]);
  let x = softClip(g, g.cast(latents, g.computeType));
  x = activate(g, conv2d(g, x, "decoder.layers.0", config.latentChannels, decoderChannels[0]!), activation);
  // the activation is a layer of its own in the checkpoint's numbering, and so is each enlargement
  let layer = 2;
  for (const [i, size] of decoderChannels.entries()) {
    const final = i === decoderChannels.length - 1;
    for (let n = 0; n < config.decoderBlocks[i]!; n++) {
      x = tinyBlock(g, x, `decoder.layers.${layer++}`, size, activation);
    }
    if (!final) {
      x = upsampleNearest(g, x, config.upsampling);
      layer++;
    }
    x = conv2d(g, x, `decoder.layers.${layer++}`, size, final ? config.outChannels : size, { bias: final });
  }
  x = subtract(g, multiply(g, x, g.constantFloats([2])), g.constantFloats([1]));
  g.output("sample", x, ["B", config.outChannels, "H", "W"]);
  return g.build();
}

const CLIP_RANGE = 3;

function softClip(g: GraphBuilder, x: Value): Value {
  return multiply(g, tanh(g, multiply(g, x, g.constantFloats([1 / CLIP_RANGE]))), g.constantFloats([CLIP_RANGE]));
}

function tinyBlock(g: GraphBuilder, x: Value, name: string, channels: number, activation: Activation): Value {
  let h = activate(g, conv2d(g, x, `${name}.conv.0`, channels, channels), activation);
  h = activate(g, conv2d(g, h, `${name}.conv.2`, channels, channels), activation);
  h = conv2d(g, h, `${name}.conv.4`, channels, channels);
  return g.tap(name, activate(g, add(g, h, x), "relu"));
}
