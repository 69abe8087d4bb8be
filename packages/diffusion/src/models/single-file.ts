/**
 * Checkpoints in one file with the original naming (model.diffusion_model.*, first_stage_model.*, cond_stage_model.* or
 * conditioner.embedders.*), as safetensors or GGUF: Stable Diffusion 1, 2 and XL. The tensors are seen under diffusers' names where they lie;
 * configs are read off the tensors' shapes, because such files carry none.
 */
import path from "node:path";
import {
  countElements,
  type GgufFile,
  openGguf,
  openSafetensors,
  prefixedSource,
  readTensorFloats,
  sliceRows,
  sourceOf,
  type TensorFile,
  type TensorRef,
  type TensorSource,
  tensorFromFloats,
  totalBytes,
} from "@kit/tensor-files";
import { readAutoencoderKLConfig } from "./autoencoder-kl.js";
import { type AutoencoderConfig, type Checkpoint, CheckpointError, type Component } from "./checkpoint.js";
import { type CLIPTextConfig, readCLIPTextConfig } from "./clip-text-model.js";
import { isFolder } from "./component-files.js";
import { renameAutoencoderTensor, renameOpenClipTensor, renameUNetTensor } from "./original-names.js";
import { findTinyAutoencoder } from "./single-file-tiny.js";
import { readUNetConfig, type UNetConfig } from "./unet-2d-condition-model.js";

const UNET_PREFIXES = ["model.diffusion_model.", ""];
const VAE_PREFIXES = ["first_stage_model.", "vae.", ""];
const CLIP_PREFIXES = [
  "cond_stage_model.transformer.",
  "conditioner.embedders.0.transformer.",
  "text_encoders.clip_l.transformer.",
];
const OPENCLIP_PREFIXES = [
  "cond_stage_model.model.",
  "conditioner.embedders.1.model.",
  "conditioner.embedders.0.model.",
];
const SDXL_SCALING_FACTOR = 0.13025;

/** What the shapes of a file cannot tell. */
export interface SingleFileOptions {
  /** groups of the group norms: 32 in every published model */
  readonly normGroups?: number;
}

const NORM_GROUPS = 32;

export async function openSingleFile(
  file: string,
  { normGroups = NORM_GROUPS }: SingleFileOptions = {},
): Promise<Checkpoint> {
  const opened = await openTensorFile(file);
  const unet = findUNet(opened, file, normGroups);
  const xl = unet.config.textTime !== undefined;
  const vae = findAutoencoder(opened, file, normGroups, xl ? SDXL_SCALING_FACTOR : undefined);
  const clip = findClip(opened, file);
  const open = findOpenClip(opened, file, xl);
  if (!vae) throw missingPart(file, "an autoencoder", VAE_PREFIXES);
  if (!clip && !open) throw missingPart(file, "a text encoder", [...CLIP_PREFIXES, ...OPENCLIP_PREFIXES]);
  const tokenizer = await besides(file, "tokenizer");
  return {
    kind: xl ? "sdxl" : "sd",
    path: file,
    unet,
    vae,
    textEncoder: xl ? clip : (clip ?? open),
    textEncoder2: xl ? open : undefined,
    tokenizer,
    tokenizer2: xl ? ((await besides(file, "tokenizer_2")) ?? tokenizer) : undefined,
    schedulerConfig: schedulerOf(opened, unet.config, clip === undefined && !xl),
    modelIndex: {},
    bytes: totalBytes(opened),
  };
}

export async function openSingleFileAutoencoder(
  file: string,
  { normGroups = NORM_GROUPS }: SingleFileOptions = {},
): Promise<Component<AutoencoderConfig>> {
  const opened = await openTensorFile(file);
  const found = (await findTinyAutoencoder(opened, file)) ?? findAutoencoder(opened, file, normGroups, undefined);
  if (!found) throw missingPart(file, "an autoencoder", VAE_PREFIXES);
  return found;
}

function missingPart(file: string, what: string, prefixes: readonly string[]): CheckpointError {
  const looked = prefixes.filter((prefix) => prefix !== "").map((prefix) => `${prefix}*`);
  return new CheckpointError(
    file,
    `it holds no ${what.replace(/^an? /, "")} (looked for ${looked.join(", ")}); use the full checkpoint or a folder in diffusers layout`,
  );
}

async function besides(file: string, name: string): Promise<string | undefined> {
  const folder = path.join(path.dirname(file), name);
  return (await isFolder(folder)) ? folder : undefined;
}

async function openTensorFile(
  file: string,
): Promise<TensorSource & { readonly metadata?: ReadonlyMap<string, unknown> }> {
  if (!file.toLowerCase().endsWith(".gguf")) return openSafetensors(file) as Promise<TensorFile>;
  return restoreShapes(await openGguf(file));
}

/** Some converters flatten tensors and note the real shape in the metadata. */
function restoreShapes(file: GgufFile): TensorSource & { readonly metadata: ReadonlyMap<string, unknown> } {
  const restored = [...file.names()].map((name) => {
    const tensor = file.get(name)!;
    const noted = file.metadata.get(`comfy.gguf.orig_shape.${name}`);
    if (!Array.isArray(noted) || !noted.every((size) => typeof size === "number")) return tensor;
    return countElements(noted) === countElements(tensor.shape) ? { ...tensor, shape: noted as number[] } : tensor;
  });
  return { ...sourceOf(file.origin, restored), metadata: file.metadata };
}

/** The names under the first prefix where `probe` exists; undefined where none has it. */
function underPrefix(source: TensorSource, prefixes: readonly string[], probe: string): TensorSource | undefined {
  const prefix = prefixes.find((candidate) => source.get(candidate + probe) !== undefined);
  return prefix === undefined ? undefined : prefixedSource(source, prefix);
}

/** Sees every tensor under the name `rename` gives it. */
function renamed(source: TensorSource, rename: (name: string) => string | undefined): TensorSource {
  const tensors: TensorRef[] = [];
  for (const name of source.names()) {
    const to = rename(name);
    const tensor = to === undefined ? undefined : source.get(name);
    if (to !== undefined && tensor) tensors.push({ ...tensor, name: to });
  }
  return sourceOf(source.origin, tensors);
}

// ── the denoiser ────────────────────────────────────────────────────────────

function findUNet(source: TensorSource, file: string, normGroups: number): Component<UNetConfig> {
  const net = underPrefix(source, UNET_PREFIXES, "input_blocks.0.0.weight");
  if (!net) {
    throw new CheckpointError(
      file,
      "it holds no Stable Diffusion denoiser (looked for model.diffusion_model.*); is it an adapter or a part of a model?",
    );
  }
  const { json, layers } = inferUNetConfig(net);
  return {
    config: readUNetConfig({ ...json, norm_num_groups: normGroups }, `${file} (read off its tensors)`),
    source: renamed(net, (name) => renameUNetTensor(name, layers)),
  };
}

interface InputBlock {
  readonly channels: number;
  readonly depth: number;
}

/** Heads have 64 numbers in the nets with linear projections (SD 2, XL); the older ones have eight heads everywhere. */
const HEAD_SIZE = 64;
const OLD_HEADS = 8;

function inferUNetConfig(net: TensorSource): { json: Record<string, unknown>; layers: number } {
  const levels = readLevels(net);
  const layers = levels[0]?.length ?? 0;
  const channels = levels.map((level) => level[0]!.channels);
  const attends = levels.map((level) => level[0]!.depth > 0);
  const middleDepth = countTransformers(net, "middle_block.1");
  const conv = shapeOf(net, "input_blocks.0.0.weight");
  const projection = firstMatch(net, /\.proj_in\.weight$/);
  const linear = projection?.shape.length === 2;
  const cross = firstMatch(net, /\.attn2\.to_k\.weight$/)?.shape[1] ?? 768;
  const label = net.get("label_emb.0.0.weight");
  const guidance = net.get("time_embed.cond_proj.weight");
  const json: Record<string, unknown> = {
    in_channels: conv[1],
    out_channels: shapeOf(net, "out.2.weight")[0],
    block_out_channels: channels,
    layers_per_block: layers,
    down_block_types: attends.map((yes) => (yes ? "CrossAttnDownBlock2D" : "DownBlock2D")),
    up_block_types: attends.map((yes) => (yes ? "CrossAttnUpBlock2D" : "UpBlock2D")).reverse(),
    mid_block_type: middleDepth > 0 ? "UNetMidBlock2DCrossAttn" : "UNetMidBlock2D",
    // the last entry also sets the depth of the middle, whose neighbour may have no transformers of its own
    transformer_layers_per_block: levels.map((level, i) =>
      i === levels.length - 1 ? Math.max(level[0]!.depth, middleDepth, 1) : Math.max(level[0]!.depth, 1),
    ),
    attention_head_dim: linear ? channels.map((size) => Math.max(1, Math.floor(size / HEAD_SIZE))) : OLD_HEADS,
    cross_attention_dim: cross,
    use_linear_projection: linear,
    ...(label
      ? {
          addition_embed_type: "text_time",
          addition_time_embed_dim: 256,
          projection_class_embeddings_input_dim: label.shape[1],
        }
      : {}),
    ...(guidance ? { time_cond_proj_dim: guidance.shape[1] } : {}),
  };
  return { json, layers };
}

/** Input blocks in groups of one resolution, split at the downsamplers. */
function readLevels(net: TensorSource): InputBlock[][] {
  const levels: InputBlock[][] = [[]];
  for (let index = 1; ; index++) {
    if (net.get(`input_blocks.${index}.0.op.weight`)) {
      levels.push([]);
      continue;
    }
    const conv = net.get(`input_blocks.${index}.0.out_layers.3.weight`);
    if (!conv) return levels.filter((level) => level.length > 0);
    levels.at(-1)!.push({ channels: conv.shape[0]!, depth: countTransformers(net, `input_blocks.${index}.1`) });
  }
}

function countTransformers(net: TensorSource, name: string): number {
  let count = 0;
  while (net.get(`${name}.transformer_blocks.${count}.norm1.weight`)) count++;
  return count;
}

function shapeOf(source: TensorSource, name: string): readonly number[] {
  const tensor = source.get(name);
  if (!tensor) throw new CheckpointError(source.origin, `tensor '${name}' is missing`);
  return tensor.shape;
}

function firstMatch(source: TensorSource, pattern: RegExp): TensorRef | undefined {
  for (const name of source.names()) if (pattern.test(name)) return source.get(name);
  return undefined;
}

// ── the autoencoder ─────────────────────────────────────────────────────────

function findAutoencoder(
  source: TensorSource,
  file: string,
  normGroups: number,
  scalingFactor: number | undefined,
): Component<AutoencoderConfig> | undefined {
  const original = underPrefix(source, VAE_PREFIXES, "decoder.mid.block_1.conv1.weight");
  if (original) {
    const blocks = countWhile((i) => original.get(`decoder.up.${i}.block.0.conv1.weight`) !== undefined);
    return describeAutoencoder(
      renamed(original, (name) => renameAutoencoderTensor(name, blocks)),
      file,
      normGroups,
      scalingFactor,
    );
  }
  const ours = underPrefix(source, VAE_PREFIXES, "decoder.mid_block.resnets.0.conv1.weight");
  return ours && describeAutoencoder(ours, file, normGroups, scalingFactor);
}

function countWhile(exists: (index: number) => boolean): number {
  let count = 0;
  while (exists(count)) count++;
  return count;
}

function describeAutoencoder(
  source: TensorSource,
  file: string,
  normGroups: number,
  scalingFactor: number | undefined,
): Component<AutoencoderConfig> {
  const blocks = countWhile((i) => source.get(`decoder.up_blocks.${i}.resnets.0.conv1.weight`) !== undefined);
  const last = (i: number): number =>
    countWhile((j) => source.get(`decoder.up_blocks.${i}.resnets.${j}.conv1.weight`) !== undefined);
  const widths = Array.from(
    { length: blocks },
    (_, i) => shapeOf(source, `decoder.up_blocks.${i}.resnets.0.conv1.weight`)[0]!,
  );
  const latent = shapeOf(source, "decoder.conv_in.weight")[1];
  const json = {
    block_out_channels: widths.reverse(),
    layers_per_block: last(0) - 1,
    down_block_types: widths.map(() => "DownEncoderBlock2D"),
    up_block_types: widths.map(() => "UpDecoderBlock2D"),
    latent_channels: latent,
    norm_num_groups: normGroups,
    in_channels: source.get("encoder.conv_in.weight")?.shape[1] ?? 3,
    out_channels: shapeOf(source, "decoder.conv_out.weight")[0],
    use_quant_conv: source.get("quant_conv.weight") !== undefined,
    use_post_quant_conv: source.get("post_quant_conv.weight") !== undefined,
    mid_block_add_attention: source.get("decoder.mid_block.attentions.0.group_norm.weight") !== undefined,
    ...(scalingFactor === undefined ? {} : { scaling_factor: scalingFactor }),
  };
  return { config: readAutoencoderKLConfig(json, `${file} (read off its tensors)`), source };
}

// ── the text encoders ───────────────────────────────────────────────────────

const CLIP_HEAD_SIZE = 64;

function clipJson(source: TensorSource, layers: number, extra: Record<string, unknown>): Record<string, unknown> {
  const [vocabulary, width] = shapeOf(source, "text_model.embeddings.token_embedding.weight") as [number, number];
  return {
    vocab_size: vocabulary,
    hidden_size: width,
    num_hidden_layers: layers,
    num_attention_heads: Math.max(1, Math.floor(width / CLIP_HEAD_SIZE)),
    intermediate_size: shapeOf(source, "text_model.encoder.layers.0.mlp.fc1.weight")[0],
    max_position_embeddings: shapeOf(source, "text_model.embeddings.position_embedding.weight")[0],
    eos_token_id: vocabulary - 1,
    ...extra,
  };
}

function countLayers(source: TensorSource): number {
  return countWhile((i) => source.get(`text_model.encoder.layers.${i}.mlp.fc1.weight`) !== undefined);
}

/** OpenAI's ViT-L, in transformers' own names. */
function findClip(source: TensorSource, file: string): Component<CLIPTextConfig> | undefined {
  const probe = "text_model.embeddings.token_embedding.weight";
  const net = underPrefix(source, CLIP_PREFIXES, probe);
  if (!net) return undefined;
  const json = clipJson(net, countLayers(net), { hidden_act: "quick_gelu" });
  return { config: readCLIPTextConfig(json, `${file} (read off its tensors)`), source: net };
}

/** OpenCLIP's towers. SD 2 was trained on the state before the last layer, so its last layer is left out for good. */
function findOpenClip(source: TensorSource, file: string, xl: boolean): Component<CLIPTextConfig> | undefined {
  const original = underPrefix(source, OPENCLIP_PREFIXES, "token_embedding.weight");
  if (!original) return undefined;
  const net = sourceOf(original.origin, openClipTensors(original));
  const projection = original.get("text_projection");
  const json = clipJson(net, countLayers(net) - (xl ? 0 : 1), {
    hidden_act: "gelu",
    ...(xl && projection
      ? { architectures: ["CLIPTextModelWithProjection"], projection_dim: projection.shape[1] }
      : {}),
  });
  return { config: readCLIPTextConfig(json, `${file} (read off its tensors)`), source: net };
}

function* openClipTensors(source: TensorSource): Generator<TensorRef> {
  for (const name of source.names()) {
    const tensor = source.get(name)!;
    const to = renameOpenClipTensor(name);
    const fused = /^transformer\.resblocks\.(\d+)\.attn\.in_proj_(weight|bias)$/.exec(name);
    if (to) yield { ...tensor, name: to };
    else if (fused) yield* splitFused(tensor, `text_model.encoder.layers.${fused[1]}.self_attn`, fused[2]!);
    else if (name === "text_projection") yield transposeProjection(tensor);
  }
}

/** Query, key and value lie below each other in one matrix: three views on its rows. */
function splitFused(tensor: TensorRef, name: string, kind: string): TensorRef[] {
  const rows = tensor.shape[0]! / 3;
  return ["q_proj", "k_proj", "v_proj"].map((part, i) =>
    sliceRows(tensor, `${name}.${part}.${kind}`, i * rows, (i + 1) * rows),
  );
}

/** OpenCLIP multiplies from the left: the one matrix that has to be turned (and it is small). */
function transposeProjection(tensor: TensorRef): TensorRef {
  const [rows, columns] = tensor.shape as [number, number];
  const from = readTensorFloats(tensor);
  const to = new Float32Array(from.length);
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) to[c * rows + r] = from[r * columns + c]!;
  return tensorFromFloats("text_projection.weight", [columns, rows], to);
}

// ── the scheduler ───────────────────────────────────────────────────────────

/**
 * The noise schedule all three families were trained with. Shapes cannot tell SD 2's base (epsilon) from its 768 px nets (v);
 * the latter are the common ones. Metadata (`modelspec.prediction_type`) and marker tensors decide where they exist.
 */
function schedulerOf(
  source: TensorSource & { readonly metadata?: ReadonlyMap<string, unknown> },
  config: UNetConfig,
  secondGeneration: boolean,
): Record<string, unknown> {
  const noted = source.metadata?.get("modelspec.prediction_type");
  const marked = source.get("v_pred") !== undefined;
  const inpaints = config.inChannels === 9;
  const velocity = noted === "v" || marked || (noted === undefined && secondGeneration && !inpaints);
  return {
    _class_name: "EulerDiscreteScheduler",
    num_train_timesteps: 1000,
    beta_start: 0.00085,
    beta_end: 0.012,
    beta_schedule: "scaled_linear",
    steps_offset: 1,
    timestep_spacing: "leading",
    prediction_type: velocity ? "v_prediction" : "epsilon",
    rescale_betas_zero_snr: source.get("ztsnr") !== undefined,
  };
}
