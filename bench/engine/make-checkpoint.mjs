/**
 * Writes a checkpoint of the true Stable Diffusion 1.5 architecture with random weights (the same ones every time), in diffusers layout.
 * The list of tensors comes from our own graphs: built over an empty source they say what they lack.
 */
import { existsSync } from "node:fs";
import { mkdir, open, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  buildAutoencoderKLDecoder,
  buildAutoencoderKLEncoder,
  buildCLIPTextModel,
  buildUNet2DConditionModel,
  readAutoencoderKLConfig,
  readCLIPTextConfig,
  readUNetConfig,
} from "../../packages/diffusion/dist/models/index.js";
import { MissingTensorsError } from "../../packages/onnx-graph/dist/index.js";
import { floatsToHalves, sourceOf } from "../../packages/tensor-files/dist/index.js";

/** The races' checkpoints in a cache folder, written where they are missing. */
export async function makeCheckpoints(cache) {
  console.error(`weights in ${cache} (6 GB, written once)`);
  // the number counts what is written there: caches of older runs are left alone
  const folders = { f16: path.join(cache, "sd15-2-f16"), f32: path.join(cache, "sd15-2-f32") };
  await makeCheckpoint(folders.f16, "F16");
  await makeCheckpoint(folders.f32, "F32");
  return folders;
}

const EMPTY = sourceOf("nothing", []);
const OPTIONS = { target: "cpu", compute: "fp32", weights: "fold" };

const CONFIGS = {
  unet: {
    _class_name: "UNet2DConditionModel",
    in_channels: 4,
    out_channels: 4,
    sample_size: 64,
    attention_head_dim: 8,
    block_out_channels: [320, 640, 1280, 1280],
    cross_attention_dim: 768,
    layers_per_block: 2,
    down_block_types: ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"],
    up_block_types: ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"],
  },
  vae: {
    _class_name: "AutoencoderKL",
    in_channels: 3,
    out_channels: 3,
    latent_channels: 4,
    block_out_channels: [128, 256, 512, 512],
    layers_per_block: 2,
    down_block_types: Array(4).fill("DownEncoderBlock2D"),
    up_block_types: Array(4).fill("UpDecoderBlock2D"),
    norm_num_groups: 32,
    sample_size: 512,
    scaling_factor: 0.18215,
  },
  text_encoder: {
    architectures: ["CLIPTextModel"],
    model_type: "clip_text_model",
    hidden_size: 768,
    intermediate_size: 3072,
    num_hidden_layers: 12,
    num_attention_heads: 12,
    hidden_act: "quick_gelu",
    vocab_size: 49408,
    max_position_embeddings: 77,
    eos_token_id: 2,
    bos_token_id: 0,
    pad_token_id: 1,
    projection_dim: 768,
  },
};

const MODEL_INDEX = {
  _class_name: "StableDiffusionPipeline",
  unet: ["diffusers", "UNet2DConditionModel"],
  vae: ["diffusers", "AutoencoderKL"],
  text_encoder: ["transformers", "CLIPTextModel"],
};

const SCHEDULER = {
  _class_name: "DDIMScheduler",
  beta_start: 0.00085,
  beta_end: 0.012,
  beta_schedule: "scaled_linear",
  clip_sample: false,
  num_train_timesteps: 1000,
  prediction_type: "epsilon",
  set_alpha_to_one: false,
  steps_offset: 1,
  timestep_spacing: "leading",
};

function listTensors(build) {
  try {
    build();
  } catch (error) {
    if (error instanceof MissingTensorsError) return [...error.missing];
    throw error;
  }
  return [];
}

/** The same shape of nets, small: to try a bench out, not to measure. */
export const TINY_CONFIGS = {
  unet: { ...CONFIGS.unet, block_out_channels: [32, 64, 64, 64], cross_attention_dim: 64 },
  vae: { ...CONFIGS.vae, block_out_channels: [32, 32, 64, 64] },
  text_encoder: {
    ...CONFIGS.text_encoder,
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    projection_dim: 64,
  },
};

const TENSORS = {
  unet: (config) => listTensors(() => buildUNet2DConditionModel(readUNetConfig(config, "unet"), EMPTY, OPTIONS)),
  vae: (raw) => {
    const config = readAutoencoderKLConfig(raw, "vae");
    const parts = [buildAutoencoderKLEncoder, buildAutoencoderKLDecoder];
    return parts.flatMap((build) => listTensors(() => build(config, EMPTY, OPTIONS)));
  },
  text_encoder: (config) =>
    listTensors(() => buildCLIPTextModel(readCLIPTextConfig(config, "text_encoder"), EMPTY, OPTIONS)),
};

/**
 * Numbers that look like weights: norms near one, biases small, matrices scaled by their inputs. `numbersOf` keeps what it has computed.
 * Each tensor begins elsewhere in the pattern: ONNX Runtime holds weights that are equal only once, which no real net gains from.
 */
function fillTensor(name, shape, numbersOf) {
  const count = shape.reduce((a, b) => a * b, 1);
  const norm = shape.length === 1 && name.endsWith(".weight");
  const fanIn = shape.slice(1).reduce((a, b) => a * b, 1);
  const numbers = numbersOf(norm ? 1 : 0, shape.length === 1 ? 0.02 : 1 / Math.sqrt(fanIn));
  const values = new numbers.constructor(count);
  let from = hashName(name) % numbers.length;
  for (let at = 0; at < count; from = 0) {
    const piece = numbers.subarray(from, from + count - at);
    values.set(piece, at);
    at += piece.length;
  }
  return values;
}

function hashName(name) {
  let hash = 0;
  for (const character of name) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0;
  return hash;
}

/** The pattern as weights of one mean and scale, in the type of the file. */
function createNumbers(dtype) {
  const pattern = makePattern();
  const known = new Map();
  return (mean, scale) => {
    const key = `${mean} ${scale}`;
    if (!known.has(key)) {
      const floats = pattern.map((value) => mean + scale * value);
      known.set(key, dtype === "F16" ? floatsToHalves(floats) : floats);
    }
    return known.get(key);
  };
}

/** One prime-length run of pseudo-random numbers of about unit variance, repeated with shifts: fast, and the same on every machine. */
function makePattern() {
  const pattern = new Float32Array(1_000_003);
  let state = 42;
  for (let i = 0; i < pattern.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    pattern[i] = (state / 2 ** 31 - 1) * 1.7;
  }
  return pattern;
}

async function writeComponent(folder, tensors, dtype) {
  const size = dtype === "F16" ? 2 : 4;
  const header = {};
  let offset = 0;
  for (const [name, shape] of tensors) {
    const length = shape.reduce((a, b) => a * b, 1) * size;
    header[name] = { dtype, shape, data_offsets: [offset, offset + length] };
    offset += length;
  }
  const json = Buffer.from(JSON.stringify(header));
  const head = Buffer.alloc(8 + Math.ceil(json.length / 8) * 8, " ");
  head.writeBigUInt64LE(BigInt(head.length - 8));
  json.copy(head, 8);
  const name = folder.endsWith("text_encoder") ? "model" : "diffusion_pytorch_model";
  const file = path.join(folder, `${name}.safetensors`);
  const handle = await open(`${file}.partial`, "w");
  await handle.write(head);
  const numbersOf = createNumbers(dtype);
  for (const [tensor, shape] of tensors) {
    await handle.write(new Uint8Array(fillTensor(tensor, shape, numbersOf).buffer));
  }
  await handle.close();
  await rename(`${file}.partial`, file);
}

/** Makes the checkpoint in `folder` unless it is there. */
export async function makeCheckpoint(folder, dtype, configs = CONFIGS) {
  const done = path.join(folder, "model_index.json");
  if (existsSync(done)) return;
  for (const [component, config] of Object.entries(configs)) {
    const inner = path.join(folder, component);
    await mkdir(inner, { recursive: true });
    await writeComponent(inner, TENSORS[component](config), dtype);
    await writeFile(path.join(inner, "config.json"), JSON.stringify(config, null, 2));
  }
  await mkdir(path.join(folder, "scheduler"), { recursive: true });
  await writeFile(path.join(folder, "scheduler", "scheduler_config.json"), JSON.stringify(SCHEDULER, null, 2));
  await writeFile(done, JSON.stringify(MODEL_INDEX, null, 2));
}
