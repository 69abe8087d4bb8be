/**
 * The names tensors have in original checkpoints (CompVis, Stability) against those of diffusers and transformers.
 * Each function turns one original name into ours, or gives undefined where it means nothing to us.
 */

const RESNET_PARTS: ReadonlyMap<string, string> = new Map([
  ["in_layers.0", "norm1"],
  ["in_layers.2", "conv1"],
  ["emb_layers.1", "time_emb_proj"],
  ["out_layers.0", "norm2"],
  ["out_layers.3", "conv2"],
  ["skip_connection", "conv_shortcut"],
]);

const UNET_ENDS: ReadonlyMap<string, string> = new Map([
  ["time_embed.0", "time_embedding.linear_1"],
  ["time_embed.2", "time_embedding.linear_2"],
  ["time_embed.cond_proj", "time_embedding.cond_proj"],
  ["label_emb.0.0", "add_embedding.linear_1"],
  ["label_emb.0.2", "add_embedding.linear_2"],
  ["input_blocks.0.0", "conv_in"],
  ["out.0", "conv_norm_out"],
  ["out.2", "conv_out"],
]);

const MIDDLE_PARTS = ["resnets.0", "attentions.0", "resnets.1"];

/** `layers` is the number of resnets in each down block; up blocks have one more. */
export function renameUNetTensor(name: string, layers: number): string | undefined {
  const [, module, kind] = /^(.*)\.(weight|bias)$/.exec(name) ?? [];
  if (module === undefined || kind === undefined) return undefined;
  const renamed = UNET_ENDS.get(module) ?? renameBlock(module, layers);
  return renamed && `${renamed}.${kind}`;
}

function renameBlock(module: string, layers: number): string | undefined {
  const middle = /^middle_block\.([012])\.(.+)$/.exec(module);
  if (middle) return `mid_block.${MIDDLE_PARTS[Number(middle[1])]}.${renameResnetPart(middle[2]!)}`;
  const side = /^(input|output)_blocks\.(\d+)\.(\d)\.(.+)$/.exec(module);
  if (!side) return undefined;
  const [, direction, index, part, rest] = side as unknown as [string, string, string, string, string];
  return direction === "input"
    ? renameInputBlock(Number(index) - 1, part, rest, layers)
    : renameOutputBlock(Number(index), part, rest, layers);
}

function renameInputBlock(index: number, part: string, rest: string, layers: number): string {
  const block = `down_blocks.${Math.floor(index / (layers + 1))}`;
  const layer = index % (layers + 1);
  if (rest === "op") return `${block}.downsamplers.0.conv`;
  return `${block}.${part === "0" ? "resnets" : "attentions"}.${layer}.${renameResnetPart(rest)}`;
}

function renameOutputBlock(index: number, part: string, rest: string, layers: number): string {
  const block = `up_blocks.${Math.floor(index / (layers + 1))}`;
  const layer = index % (layers + 1);
  if (rest === "conv") return `${block}.upsamplers.0.conv`;
  return `${block}.${part === "0" ? "resnets" : "attentions"}.${layer}.${renameResnetPart(rest)}`;
}

/** Attention layers keep their names. */
function renameResnetPart(rest: string): string {
  return RESNET_PARTS.get(rest) ?? rest;
}

/** `blocks` is the number of resolutions: the original counts up blocks from the finest. */
export function renameAutoencoderTensor(name: string, blocks: number): string | undefined {
  if (/^(post_)?quant_conv\.(weight|bias)$/.test(name)) return name;
  const [, side, module, kind] = /^(encoder|decoder)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  if (!side || !module || !kind) return undefined;
  const renamed = renameAutoencoderModule(module, blocks);
  return renamed && `${side}.${renamed}.${kind}`;
}

const ATTENTION_PARTS: ReadonlyMap<string, string> = new Map([
  ["norm", "group_norm"],
  ["q", "to_q"],
  ["k", "to_k"],
  ["v", "to_v"],
  ["proj_out", "to_out.0"],
]);

function renameAutoencoderModule(module: string, blocks: number): string | undefined {
  if (module === "conv_in" || module === "conv_out") return module;
  if (module === "norm_out") return "conv_norm_out";
  const block = /^mid\.block_([12])\.(.+)$/.exec(module);
  if (block) return `mid_block.resnets.${Number(block[1]) - 1}.${renameShortcut(block[2]!)}`;
  const attention = /^mid\.attn_1\.(.+)$/.exec(module);
  if (attention) return `mid_block.attentions.0.${ATTENTION_PARTS.get(attention[1]!) ?? attention[1]}`;
  const level = /^(down|up)\.(\d+)\.(.+)$/.exec(module);
  if (!level) return undefined;
  const index = level[1] === "up" ? blocks - 1 - Number(level[2]) : Number(level[2]);
  const place = `${level[1]}_blocks.${index}`;
  const rest = level[3]!;
  if (rest === "downsample.conv") return `${place}.downsamplers.0.conv`;
  if (rest === "upsample.conv") return `${place}.upsamplers.0.conv`;
  const resnet = /^block\.(\d+)\.(.+)$/.exec(rest);
  return resnet ? `${place}.resnets.${resnet[1]}.${renameShortcut(resnet[2]!)}` : undefined;
}

function renameShortcut(part: string): string {
  return part === "nin_shortcut" ? "conv_shortcut" : part;
}

const OPENCLIP_PARTS: ReadonlyMap<string, string> = new Map([
  ["ln_1", "layer_norm1"],
  ["ln_2", "layer_norm2"],
  ["attn.out_proj", "self_attn.out_proj"],
  ["mlp.c_fc", "mlp.fc1"],
  ["mlp.c_proj", "mlp.fc2"],
]);

/** OpenCLIP's text tower, apart from the fused query-key-value matrices and the projection, which are no mere renaming. */
export function renameOpenClipTensor(name: string): string | undefined {
  if (name === "token_embedding.weight") return "text_model.embeddings.token_embedding.weight";
  if (name === "positional_embedding") return "text_model.embeddings.position_embedding.weight";
  const norm = /^ln_final\.(weight|bias)$/.exec(name);
  if (norm) return `text_model.final_layer_norm.${norm[1]}`;
  const block = /^transformer\.resblocks\.(\d+)\.(.+)\.(weight|bias)$/.exec(name);
  const part = block && OPENCLIP_PARTS.get(block[2]!);
  return part ? `text_model.encoder.layers.${block[1]}.${part}.${block[3]}` : undefined;
}
