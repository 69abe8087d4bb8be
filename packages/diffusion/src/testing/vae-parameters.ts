import type { ParameterList } from "./parameter-list.js";

/** The fields of an AutoencoderKL config that decide its parameters here. */
export interface TinyVaeConfig {
  readonly latent_channels: number;
  readonly block_out_channels: readonly number[];
  readonly layers_per_block: number;
}

export function addVaeParameters(list: ParameterList, config: TinyVaeConfig): void {
  const latents = config.latent_channels;
  addHalf(list, "encoder", [...config.block_out_channels], config.layers_per_block, 3, latents * 2);
  addHalf(list, "decoder", [...config.block_out_channels].reverse(), config.layers_per_block + 1, latents, 3);
  list.conv("quant_conv", latents * 2, latents * 2, 1);
  list.conv("post_quant_conv", latents, latents, 1);
}

function addHalf(
  list: ParameterList,
  half: "encoder" | "decoder",
  widths: readonly number[],
  layers: number,
  inputs: number,
  outputs: number,
): void {
  const isEncoder = half === "encoder";
  const [first, last] = [widths[0]!, widths.at(-1)!];
  const middle = isEncoder ? last : first;
  list.conv(`${half}.conv_in`, first, inputs);
  for (const [i, width] of widths.entries()) {
    const name = `${half}.${isEncoder ? "down" : "up"}_blocks.${i}`;
    for (let j = 0; j < layers; j++) {
      addResnet(list, `${name}.resnets.${j}`, j === 0 ? widths[Math.max(0, i - 1)]! : width, width);
    }
    if (i < widths.length - 1) list.conv(`${name}.${isEncoder ? "down" : "up"}samplers.0.conv`, width, width);
  }
  addResnet(list, `${half}.mid_block.resnets.0`, middle, middle);
  list.norm(`${half}.mid_block.attentions.0.group_norm`, middle);
  for (const part of ["to_q", "to_k", "to_v", "to_out.0"]) {
    list.linear(`${half}.mid_block.attentions.0.${part}`, middle, middle);
  }
  addResnet(list, `${half}.mid_block.resnets.1`, middle, middle);
  list.norm(`${half}.conv_norm_out`, last);
  list.conv(`${half}.conv_out`, outputs, last);
}

function addResnet(list: ParameterList, name: string, inputs: number, outputs: number): void {
  list.norm(`${name}.norm1`, inputs);
  list.conv(`${name}.conv1`, outputs, inputs);
  list.norm(`${name}.norm2`, outputs);
  list.conv(`${name}.conv2`, outputs, outputs);
  if (inputs !== outputs) list.conv(`${name}.conv_shortcut`, outputs, inputs, 1);
}
