/** An AutoencoderTiny (the distilled kind) with random weights, for the tiny checkpoints' four latent channels. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeSafetensors } from "@kit/tensor-files";
import { ParameterList } from "./parameter-list.js";

const LATENT_CHANNELS = 4;
const WIDTH = 8;
const LEVELS = 4;

export async function writeTinyAutoencoder(folder: string, seed = 1): Promise<string> {
  const list = new ParameterList(seed * 16 + 7, "F32");
  addEncoder(list);
  addDecoder(list);
  const channels = Array(LEVELS).fill(WIDTH);
  const config = {
    _class_name: "AutoencoderTiny",
    act_fn: "relu",
    decoder_block_out_channels: channels,
    encoder_block_out_channels: channels,
    in_channels: 3,
    latent_channels: LATENT_CHANNELS,
    num_decoder_blocks: Array(LEVELS).fill(1),
    num_encoder_blocks: Array(LEVELS).fill(1),
    out_channels: 3,
    scaling_factor: 1,
    upsampling_scaling_factor: 2,
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  await writeSafetensors(join(folder, "diffusion_pytorch_model.safetensors"), list.tensors, { format: "pt" });
  return folder;
}

/** Layers are numbered through: a convolution and a block per level, then the last convolution. */
function addEncoder(list: ParameterList): void {
  for (let level = 0; level < LEVELS; level++) {
    const name = `encoder.layers.${level * 2}`;
    if (level === 0) list.conv(name, WIDTH, 3);
    else list.random(`${name}.weight`, [WIDTH, WIDTH, 3, 3], WIDTH * 9);
    addBlock(list, `encoder.layers.${level * 2 + 1}`);
  }
  list.conv(`encoder.layers.${LEVELS * 2}`, LATENT_CHANNELS, WIDTH);
}

/** Activation and enlargements are layers without parameters, so numbers are skipped. */
function addDecoder(list: ParameterList): void {
  list.conv("decoder.layers.0", WIDTH, LATENT_CHANNELS);
  for (let level = 0; level < LEVELS; level++) {
    const first = 2 + level * 3;
    addBlock(list, `decoder.layers.${first}`);
    if (level === LEVELS - 1) list.conv(`decoder.layers.${first + 1}`, 3, WIDTH);
    else list.random(`decoder.layers.${first + 2}.weight`, [WIDTH, WIDTH, 3, 3], WIDTH * 9);
  }
}

function addBlock(list: ParameterList, name: string): void {
  for (const part of [0, 2, 4]) list.conv(`${name}.conv.${part}`, WIDTH, WIDTH);
}
