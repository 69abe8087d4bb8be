import type { ParameterList } from "./parameter-list.js";

/** The fields of a UNet2DConditionModel config that decide its parameters here. */
export interface TinyUnetConfig {
  readonly in_channels: number;
  readonly out_channels: number;
  readonly block_out_channels: readonly number[];
  readonly layers_per_block: number;
  readonly cross_attention_dim: number;
  readonly down_block_types: readonly string[];
  readonly up_block_types: readonly string[];
  readonly transformer_layers_per_block: number | readonly number[];
  readonly use_linear_projection: boolean;
  readonly time_cond_proj_dim: number | null;
  readonly projection_class_embeddings_input_dim: number | null;
}

export function addUnetParameters(list: ParameterList, config: TinyUnetConfig): void {
  const channels = config.block_out_channels;
  const first = channels[0]!;
  const last = channels.at(-1)!;
  const timeWidth = first * 4;
  const depthOf = (block: number) =>
    typeof config.transformer_layers_per_block === "number"
      ? config.transformer_layers_per_block
      : config.transformer_layers_per_block[block]!;

  list.conv("conv_in", first, config.in_channels);
  addEmbeddings(list, config, first, timeWidth);
  for (const [i, width] of channels.entries()) {
    const name = `down_blocks.${i}`;
    for (let j = 0; j < config.layers_per_block; j++) {
      addResnet(list, `${name}.resnets.${j}`, j === 0 ? (channels[i - 1] ?? first) : width, width, timeWidth);
      if (config.down_block_types[i]!.includes("CrossAttn")) {
        addTransformer(list, `${name}.attentions.${j}`, width, depthOf(i), config);
      }
    }
    if (i < channels.length - 1) list.conv(`${name}.downsamplers.0.conv`, width, width);
  }
  addResnet(list, "mid_block.resnets.0", last, last, timeWidth);
  addTransformer(list, "mid_block.attentions.0", last, depthOf(channels.length - 1), config);
  addResnet(list, "mid_block.resnets.1", last, last, timeWidth);
  addUpBlocks(list, config, timeWidth, depthOf);
  list.norm("conv_norm_out", first);
  list.conv("conv_out", config.out_channels, first);
}

function addEmbeddings(list: ParameterList, config: TinyUnetConfig, first: number, timeWidth: number): void {
  list.linear("time_embedding.linear_1", timeWidth, first);
  list.linear("time_embedding.linear_2", timeWidth, timeWidth);
  if (config.time_cond_proj_dim) list.linear("time_embedding.cond_proj", first, config.time_cond_proj_dim, false);
  if (config.projection_class_embeddings_input_dim) {
    list.linear("add_embedding.linear_1", timeWidth, config.projection_class_embeddings_input_dim);
    list.linear("add_embedding.linear_2", timeWidth, timeWidth);
  }
}

/** Each resnet of an up block also takes what the mirrored down block left behind. */
function addUpBlocks(
  list: ParameterList,
  config: TinyUnetConfig,
  timeWidth: number,
  depthOf: (block: number) => number,
): void {
  const reversed = [...config.block_out_channels].reverse();
  for (const [i, width] of reversed.entries()) {
    const name = `up_blocks.${i}`;
    const before = reversed[Math.max(0, i - 1)]!;
    const mirror = reversed[Math.min(i + 1, reversed.length - 1)]!;
    for (let j = 0; j <= config.layers_per_block; j++) {
      const skip = j === config.layers_per_block ? mirror : width;
      addResnet(list, `${name}.resnets.${j}`, (j === 0 ? before : width) + skip, width, timeWidth);
      if (config.up_block_types[i]!.includes("CrossAttn")) {
        addTransformer(list, `${name}.attentions.${j}`, width, depthOf(reversed.length - 1 - i), config);
      }
    }
    if (i < reversed.length - 1) list.conv(`${name}.upsamplers.0.conv`, width, width);
  }
}

function addResnet(list: ParameterList, name: string, inputs: number, outputs: number, timeWidth: number): void {
  list.norm(`${name}.norm1`, inputs);
  list.conv(`${name}.conv1`, outputs, inputs);
  list.linear(`${name}.time_emb_proj`, outputs, timeWidth);
  list.norm(`${name}.norm2`, outputs);
  list.conv(`${name}.conv2`, outputs, outputs);
  if (inputs !== outputs) list.conv(`${name}.conv_shortcut`, outputs, inputs, 1);
}

function addTransformer(list: ParameterList, name: string, width: number, depth: number, config: TinyUnetConfig): void {
  const project = (part: string) =>
    config.use_linear_projection ? list.linear(part, width, width) : list.conv(part, width, width, 1);
  list.norm(`${name}.norm`, width);
  project(`${name}.proj_in`);
  for (let k = 0; k < depth; k++) {
    const block = `${name}.transformer_blocks.${k}`;
    for (const [attention, context] of [
      ["attn1", width],
      ["attn2", config.cross_attention_dim],
    ] as const) {
      list.norm(`${block}.norm${attention.at(-1)}`, width);
      list.linear(`${block}.${attention}.to_q`, width, width, false);
      list.linear(`${block}.${attention}.to_k`, width, context, false);
      list.linear(`${block}.${attention}.to_v`, width, context, false);
      list.linear(`${block}.${attention}.to_out.0`, width, width);
    }
    list.norm(`${block}.norm3`, width);
    list.linear(`${block}.ff.net.0.proj`, width * 8, width);
    list.linear(`${block}.ff.net.2`, width, width * 4);
  }
  project(`${name}.proj_out`);
}
