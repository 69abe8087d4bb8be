/**
 * Complete checkpoints in diffusers layout with random weights and tiny dimensions, for tests: real files, real architectures,
 * milliseconds per step, any size from 64x64 up. diffusers itself loads them.
 */
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeSafetensors } from "@kit/tensor-files";
import { addClipParameters, type TinyClipConfig } from "./clip-parameters.js";
import { ParameterList } from "./parameter-list.js";
import { addUnetParameters, type TinyUnetConfig } from "./unet-parameters.js";
import { addVaeParameters, type TinyVaeConfig } from "./vae-parameters.js";

export interface TinyCheckpointOptions {
  /** `sd1` (default), `sdxl` (two encoders, text_time), `inpaint` (9 channels), `lcm` (guidance embedded) */
  readonly kind?: "sd1" | "sdxl" | "inpaint" | "lcm";
  readonly seed?: number;
  readonly dtype?: "F32" | "F16";
  /** fields of scheduler_config.json that differ from the default (DDIM, scaled_linear, epsilon) */
  readonly scheduler?: Readonly<Record<string, unknown>>;
  /** widths that go with 32 groups, eight heads and text heads of 64 numbers: what readers of single files take for granted (`sd1` only) */
  readonly published?: boolean;
}

/** The fixture vocabulary: 512 byte symbols, 1,200 merges, start and end. */
const VOCABULARY_SIZE = 1714;
const START_TOKEN = 1712;
const END_TOKEN = 1713;
const TEXT_WIDTH = 32;
const SECOND_TEXT_WIDTH = 48;

/** Writes the checkpoint into `folder` (made if absent) and gives the folder back. */
export async function writeTinyCheckpoint(folder: string, options: TinyCheckpointOptions = {}): Promise<string> {
  const { kind = "sd1", seed = 1, dtype = "F32", published = false } = options;
  const isXl = kind === "sdxl";
  const writes: Promise<void>[] = [];
  const component = async <T extends object>(
    name: string,
    config: T,
    weights: string,
    add: (list: ParameterList, config: T) => void,
    offset: number,
  ) => {
    const list = new ParameterList(seed * 16 + offset, dtype);
    add(list, config);
    await mkdir(join(folder, name), { recursive: true });
    await writeJson(join(folder, name, "config.json"), config);
    await writeSafetensors(join(folder, name, weights), list.tensors, { format: "pt" });
  };
  await mkdir(folder, { recursive: true });
  writes.push(
    component(
      "text_encoder",
      describeClip(published ? PUBLISHED.text : TEXT_WIDTH, false),
      "model.safetensors",
      addClipParameters,
      0,
    ),
    component("unet", describeUnet(kind, published), "diffusion_pytorch_model.safetensors", addUnetParameters, 1),
    component("vae", describeVae(isXl, published), "diffusion_pytorch_model.safetensors", addVaeParameters, 2),
    writeTokenizer(join(folder, "tokenizer"), "<|endoftext|>"),
    writeScheduler(folder, kind, options.scheduler ?? {}),
    writeJson(join(folder, "model_index.json"), describeIndex(kind)),
  );
  if (isXl) {
    const second = describeClip(SECOND_TEXT_WIDTH, true);
    writes.push(component("text_encoder_2", second, "model.safetensors", addClipParameters, 3));
    writes.push(writeTokenizer(join(folder, "tokenizer_2"), "!"));
  }
  await Promise.all(writes);
  return folder;
}

function describeIndex(kind: string): object {
  const names = { sd1: "", sdxl: "XL", inpaint: "Inpaint", lcm: "" } as Record<string, string>;
  const clip = ["transformers", "CLIPTextModel"];
  const tokenizer = ["transformers", "CLIPTokenizer"];
  return {
    _class_name: kind === "lcm" ? "LatentConsistencyModelPipeline" : `StableDiffusion${names[kind]}Pipeline`,
    _diffusers_version: "0.30.0",
    ...(kind === "sdxl"
      ? {
          text_encoder_2: ["transformers", "CLIPTextModelWithProjection"],
          tokenizer_2: tokenizer,
          force_zeros_for_empty_prompt: true,
        }
      : { safety_checker: [null, null], feature_extractor: [null, null], requires_safety_checker: false }),
    scheduler: ["diffusers", kind === "lcm" ? "LCMScheduler" : "DDIMScheduler"],
    text_encoder: clip,
    tokenizer,
    unet: ["diffusers", "UNet2DConditionModel"],
    vae: ["diffusers", "AutoencoderKL"],
  };
}

/** The narrowest nets that a reader of single files understands. */
const PUBLISHED = { text: 64, unet: [32, 64], vae: [32, 32, 32, 64], groups: 32, heads: 8 } as const;

function describeUnet(kind: string, published: boolean): TinyUnetConfig & Record<string, unknown> {
  const isXl = kind === "sdxl";
  return {
    _class_name: "UNet2DConditionModel",
    act_fn: "silu",
    addition_embed_type: isXl ? "text_time" : null,
    addition_time_embed_dim: isXl ? 8 : null,
    attention_head_dim: isXl ? [2, 4] : published ? PUBLISHED.heads : 2,
    block_out_channels: published ? PUBLISHED.unet : [16, 32],
    center_input_sample: false,
    cross_attention_dim: isXl ? TEXT_WIDTH + SECOND_TEXT_WIDTH : published ? PUBLISHED.text : TEXT_WIDTH,
    down_block_types: isXl ? ["DownBlock2D", "CrossAttnDownBlock2D"] : ["CrossAttnDownBlock2D", "DownBlock2D"],
    downsample_padding: 1,
    flip_sin_to_cos: true,
    freq_shift: 0,
    in_channels: kind === "inpaint" ? 9 : 4,
    layers_per_block: 1,
    mid_block_scale_factor: 1,
    norm_eps: 1e-5,
    norm_num_groups: published ? PUBLISHED.groups : 8,
    out_channels: 4,
    projection_class_embeddings_input_dim: isXl ? SECOND_TEXT_WIDTH + 6 * 8 : null,
    sample_size: isXl ? 32 : 16,
    time_cond_proj_dim: kind === "lcm" ? 16 : null,
    transformer_layers_per_block: isXl ? [1, 2] : 1,
    up_block_types: isXl ? ["CrossAttnUpBlock2D", "UpBlock2D"] : ["UpBlock2D", "CrossAttnUpBlock2D"],
    use_linear_projection: isXl,
  };
}

function describeVae(isXl: boolean, published: boolean): TinyVaeConfig & Record<string, unknown> {
  return {
    _class_name: "AutoencoderKL",
    act_fn: "silu",
    block_out_channels: published ? PUBLISHED.vae : [8, 8, 16, 16],
    down_block_types: ["DownEncoderBlock2D", "DownEncoderBlock2D", "DownEncoderBlock2D", "DownEncoderBlock2D"],
    force_upcast: isXl,
    in_channels: 3,
    latent_channels: 4,
    layers_per_block: 1,
    norm_num_groups: published ? PUBLISHED.groups : 4,
    out_channels: 3,
    sample_size: 128,
    scaling_factor: isXl ? 0.13025 : 0.18215,
    up_block_types: ["UpDecoderBlock2D", "UpDecoderBlock2D", "UpDecoderBlock2D", "UpDecoderBlock2D"],
  };
}

function describeClip(width: number, withProjection: boolean): TinyClipConfig & Record<string, unknown> {
  return {
    architectures: [withProjection ? "CLIPTextModelWithProjection" : "CLIPTextModel"],
    bos_token_id: START_TOKEN,
    eos_token_id: END_TOKEN,
    pad_token_id: withProjection ? 0 : END_TOKEN,
    hidden_act: withProjection ? "gelu" : "quick_gelu",
    hidden_size: width,
    intermediate_size: width * 4,
    layer_norm_eps: 1e-5,
    max_position_embeddings: 77,
    model_type: "clip_text_model",
    num_attention_heads: width === PUBLISHED.text ? 1 : 2,
    num_hidden_layers: 3,
    projection_dim: width,
    vocab_size: VOCABULARY_SIZE,
  };
}

async function writeScheduler(folder: string, kind: string, changes: Readonly<Record<string, unknown>>): Promise<void> {
  await mkdir(join(folder, "scheduler"), { recursive: true });
  await writeJson(join(folder, "scheduler", "scheduler_config.json"), {
    _class_name: kind === "lcm" ? "LCMScheduler" : "DDIMScheduler",
    _diffusers_version: "0.30.0",
    beta_end: 0.012,
    beta_schedule: "scaled_linear",
    beta_start: 0.00085,
    clip_sample: false,
    num_train_timesteps: 1000,
    prediction_type: "epsilon",
    set_alpha_to_one: false,
    steps_offset: 1,
    timestep_spacing: "leading",
    ...changes,
  });
}

async function writeTokenizer(folder: string, padToken: string): Promise<void> {
  const fixture = new URL("../../fixtures/tokenizers/tiny-clip/", import.meta.url);
  await mkdir(folder, { recursive: true });
  for (const file of ["vocab.json", "merges.txt"]) await copyFile(new URL(file, fixture), join(folder, file));
  await writeJson(join(folder, "tokenizer_config.json"), {
    bos_token: "<|startoftext|>",
    eos_token: "<|endoftext|>",
    model_max_length: 77,
    pad_token: padToken,
    tokenizer_class: "CLIPTokenizer",
    unk_token: "<|endoftext|>",
  });
}

async function writeJson(path: string, value: object): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
