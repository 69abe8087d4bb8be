/**
 * AutoencoderTiny in one file: diffusers' names, or TAESD's own (the places of the layers in a sequence: "1.weight", "3.conv.0.weight"),
 * encoder and decoder in one file under a prefix or in two files side by side. The config is read off the shapes.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { openSafetensors, sourceOf, type TensorRef, type TensorSource } from "@kit/tensor-files";
import { type AutoencoderTinyConfig, readAutoencoderTinyConfig } from "./autoencoder-tiny.js";
import { CheckpointError, type Component } from "./checkpoint.js";

const DECODER_PREFIXES = ["decoder.", "taesd_decoder.", ""];
const ENCODER_PREFIXES = ["encoder.", "taesd_encoder.", ""];
/** A decoder's sequence begins with a clamp, which diffusers does not count. */
const CLAMP = 1;

/** The autoencoder, or undefined where the file holds none of this kind. */
export async function findTinyAutoencoder(
  source: TensorSource,
  file: string,
): Promise<Component<AutoencoderTinyConfig> | undefined> {
  const tensors = source.get("decoder.layers.0.weight") ? [...listAll(source)] : await collectHalves(source, file);
  if (tensors.length === 0) return undefined;
  const renamed = sourceOf(file, tensors);
  return { config: inferConfig(renamed, file), source: renamed };
}

function* listAll(source: TensorSource): Generator<TensorRef> {
  for (const name of source.names()) yield source.get(name)!;
}

async function collectHalves(source: TensorSource, file: string): Promise<TensorRef[]> {
  const found = readHalves(source);
  if (found.encoder.length === 0 && found.decoder.length === 0) return [];
  const other = found.encoder.length === 0 ? "encoder" : "decoder";
  const missing = found[other].length === 0 ? file.replace(/(encoder|decoder)(?=[^/\\]*$)/, other) : file;
  if (missing !== file && existsSync(missing)) found[other] = readHalves(await openSafetensors(missing))[other];
  if (found.decoder.length === 0) {
    throw new CheckpointError(
      file,
      `it holds TAESD's encoder only; put ${path.basename(missing)} beside it, or name the decoder's file`,
    );
  }
  return [...found.encoder, ...found.decoder];
}

/** A clamp has no weights: a bare sequence that begins with number 1 is a decoder, one that begins with 0 an encoder. */
function readHalves(source: TensorSource): { encoder: TensorRef[]; decoder: TensorRef[] } {
  const decoderPrefix = DECODER_PREFIXES.find(
    (prefix) => source.get(`${prefix}1.weight`) && source.get(`${prefix}3.conv.0.weight`),
  );
  const encoderPrefix = ENCODER_PREFIXES.find(
    (prefix) => source.get(`${prefix}0.weight`) && source.get(`${prefix}1.conv.0.weight`),
  );
  return {
    decoder: decoderPrefix === undefined ? [] : renumber(source, decoderPrefix, "decoder.layers.", CLAMP),
    encoder: encoderPrefix === undefined ? [] : renumber(source, encoderPrefix, "encoder.layers.", 0),
  };
}

function renumber(source: TensorSource, from: string, to: string, shift: number): TensorRef[] {
  const tensors: TensorRef[] = [];
  for (const tensor of listAll(source)) {
    if (!tensor.name.startsWith(from)) continue;
    const [, index, rest] = /^(\d+)\.(.+)$/.exec(tensor.name.slice(from.length)) ?? [];
    if (index !== undefined) tensors.push({ ...tensor, name: `${to}${Number(index) - shift}.${rest}` });
  }
  return tensors;
}

interface Level {
  channels: number;
  blocks: number;
}

function inferConfig(source: TensorSource, file: string): AutoencoderTinyConfig {
  const decoder = readDecoder(source, file);
  const encoder = readEncoder(source) ?? [...decoder].reverse();
  const conv = shapeOf(source, "decoder.layers.0.weight", file);
  const json = {
    _class_name: "AutoencoderTiny",
    decoder_block_out_channels: decoder.map(({ channels }) => channels),
    num_decoder_blocks: decoder.map(({ blocks }) => blocks),
    encoder_block_out_channels: encoder.map(({ channels }) => channels),
    num_encoder_blocks: encoder.map(({ blocks }) => blocks),
    latent_channels: conv[1],
  };
  return readAutoencoderTinyConfig(json, `${file} (read off its tensors)`);
}

/** Blocks, an enlargement without weights and a convolution, level by level; the last convolution has no enlargement before it. */
function readDecoder(source: TensorSource, file: string): Level[] {
  const levels: Level[] = [];
  for (let layer = 2; ; layer++) {
    const blocks = countBlocks(source, "decoder", layer);
    layer += blocks;
    const last = source.get(`decoder.layers.${layer}.weight`);
    const conv = shapeOf(source, `decoder.layers.${last ? layer : layer + 1}.weight`, file);
    levels.push({ channels: conv[1]!, blocks });
    if (last) return levels;
    layer++;
  }
}

/** A convolution and blocks, level by level, then the last convolution. */
function readEncoder(source: TensorSource): Level[] | undefined {
  const levels: Level[] = [];
  for (let layer = 0; ; ) {
    const conv = source.get(`encoder.layers.${layer}.weight`);
    if (!conv) return levels.length > 0 ? levels : undefined;
    const blocks = countBlocks(source, "encoder", layer + 1);
    if (blocks === 0) return levels;
    levels.push({ channels: conv.shape[0]!, blocks });
    layer += 1 + blocks;
  }
}

function countBlocks(source: TensorSource, side: string, from: number): number {
  let count = 0;
  while (source.get(`${side}.layers.${from + count}.conv.0.weight`)) count++;
  return count;
}

function shapeOf(source: TensorSource, name: string, file: string): readonly number[] {
  const tensor = source.get(name);
  if (!tensor) throw new CheckpointError(file, `tensor '${name}' is missing`);
  return tensor.shape;
}
