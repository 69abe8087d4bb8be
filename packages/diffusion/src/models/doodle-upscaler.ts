/**
 * The small net that doubles a picture's sides, trained beside our own model (tools/train-doodle): convolutions in residual pairs at the
 * picture's size, then four sub-pixels for each pixel, added to the picture enlarged by nearest neighbour.
 */
import { access } from "node:fs/promises";
import path from "node:path";
import { add, type BuiltGraph, conv2d, GraphBuilder, type GraphOptions, upsampleNearest } from "@kit/onnx-graph";
import type { TensorSource } from "@kit/tensor-files";
import { CheckpointError, type Component } from "./checkpoint.js";
import { openComponentWeights, readJsonFile } from "./component-files.js";
import { ConfigReader } from "./read-config.js";
import { ACTIVATIONS, type Activation, activate } from "./resnet-block.js";

export interface UpscalerConfig {
  readonly scale: number;
  readonly channels: number;
  readonly layers: number;
  readonly activation: Activation;
}

const COLOURS = 3;

export function readUpscalerConfig(json: Readonly<Record<string, unknown>>, origin: string): UpscalerConfig {
  const config = new ConfigReader(json, origin);
  config.oneOf("_class_name", ["DoodleUpscaler"]);
  const layers = config.size("layers");
  if (layers % 2 !== 0) throw config.fail("layers", "expected an even number: they come in pairs");
  if (config.size("in_channels", COLOURS) !== COLOURS) throw config.fail("in_channels", "expected 3");
  const scale = config.size("scale");
  if (scale < 2 || scale > 4) throw config.fail("scale", "expected 2, 3 or 4");
  const activation = config.oneOf("activation", ACTIVATIONS, "relu");
  return { scale, channels: config.size("channels"), layers, activation };
}

/** The upscaler in a model's folder; undefined where it has none. */
export async function openUpscaler(modelPath: string): Promise<Component<UpscalerConfig> | undefined> {
  const folder = path.join(modelPath, "upscaler");
  const file = path.join(folder, "config.json");
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (!exists) return undefined;
  const json = await readJsonFile(file);
  if (json === undefined) throw new CheckpointError(folder, "it has no config.json");
  return { config: readUpscalerConfig(json, file), source: await openComponentWeights(folder, undefined) };
}

/** Input "sample" [B, 3, H, W] in -1..1; output "enlarged" [B, 3, H * scale, W * scale]. */
export function buildUpscaler(config: UpscalerConfig, source: TensorSource, options: GraphOptions): BuiltGraph {
  const g = new GraphBuilder("upscaler", source, options);
  const { scale, channels, activation } = config;
  const sample = g.cast(g.input("sample", "float32", ["B", COLOURS, "H", "W"]), g.computeType);
  let x = activate(g, conv2d(g, sample, "conv_in", COLOURS, channels), activation);
  for (let layer = 0; layer < config.layers; layer += 2) {
    const inner = activate(g, conv2d(g, x, `body.${layer}`, channels, channels), activation);
    x = add(g, x, conv2d(g, inner, `body.${layer + 1}`, channels, channels));
  }
  const subPixels = conv2d(g, x, "conv_out", channels, COLOURS * scale * scale);
  const detail = g.node("DepthToSpace", [subPixels], { blocksize: scale, mode: "CRD" });
  g.output("enlarged", add(g, upsampleNearest(g, sample, scale), detail), ["B", COLOURS, "HH", "WW"]);
  return g.build();
}
