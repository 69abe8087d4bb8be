/** What a folder or file that the user brought is: its family and the settings that suit it, read from configs and headers only. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { openGguf, openSafetensors } from "@kit/tensor-files";
import type { ModelDefaults } from "../contract/models.js";

export interface DetectedModel {
  readonly family: string;
  readonly defaults: ModelDefaults;
}

/** Undefined when there is no model at the path; throws when there is one that cannot be read. */
export async function detectModel(path: string): Promise<DetectedModel | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (!info) return undefined;
  if (info.isDirectory()) return detectFolder(path);
  if (path.endsWith(".safetensors")) return detectTensors((await openSafetensors(path)).get);
  if (path.endsWith(".gguf")) return detectTensors((await openGguf(path)).get);
  return undefined;
}

async function detectFolder(path: string): Promise<DetectedModel | undefined> {
  const index = await readJson(join(path, "model_index.json"));
  if (!index) return undefined;
  const unet = (await readJson(join(path, "unet/config.json"))) ?? {};
  const autoencoder = (await readJson(join(path, "vae/config.json"))) ?? {};
  const scheduler = (await readJson(join(path, "scheduler/scheduler_config.json"))) ?? {};
  const halvings = Array.isArray(autoencoder["block_out_channels"]) ? autoencoder["block_out_channels"].length - 1 : 3;
  const cells = typeof unet["sample_size"] === "number" ? unet["sample_size"] : 64;
  const side = Math.min(2048, Math.max(64, cells * 2 ** halvings));
  const family = familyOf(Number(unet["cross_attention_dim"]));
  const few = scheduler["_class_name"] === "LCMScheduler";
  return { family, defaults: { ...defaultsOf(family, few), width: side, height: side } };
}

function familyOf(contextWidth: number): string {
  if (contextWidth === 768) return "sd15";
  if (contextWidth === 1024) return "sd21";
  if (contextWidth === 2048) return "sdxl";
  return "stable-diffusion";
}

function defaultsOf(family: string, fewSteps: boolean): ModelDefaults {
  const side = family === "sdxl" ? 1024 : 512;
  const steps = fewSteps ? 4 : 25;
  const guidance = fewSteps ? 1 : family === "sdxl" ? 5 : 7.5;
  return { width: side, height: side, steps, guidance };
}

/** One layer that every single-file checkpoint of the family has, whose width tells the text encoder. */
const CONTEXT_LAYERS = [
  "model.diffusion_model.input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight",
  "model.diffusion_model.input_blocks.4.1.transformer_blocks.0.attn2.to_k.weight",
  "model.diffusion_model.middle_block.1.transformer_blocks.0.attn2.to_k.weight",
];

function detectTensors(get: (name: string) => { readonly shape: readonly number[] } | undefined): DetectedModel {
  const layer = CONTEXT_LAYERS.map(get).find((found) => found !== undefined);
  if (!layer) throw new Error("it holds no Stable Diffusion UNet; only whole checkpoints can be added");
  const family = familyOf(layer.shape.at(-1) ?? 0);
  return { family, defaults: defaultsOf(family, false) };
}

async function readJson(path: string): Promise<Record<string, unknown> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
