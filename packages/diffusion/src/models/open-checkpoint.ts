/** Opens a checkpoint: a folder in diffusers layout, or a single file in the original naming. Reads headers and configs, no weights. */
import { stat } from "node:fs/promises";
import path from "node:path";
import { totalBytes } from "@kit/tensor-files";
import { readAutoencoderKLConfig } from "./autoencoder-kl.js";
import { readAutoencoderTinyConfig } from "./autoencoder-tiny.js";
import { type AutoencoderConfig, type Checkpoint, CheckpointError, type Component } from "./checkpoint.js";
import { readCLIPTextConfig } from "./clip-text-model.js";
import { isFolder, openComponentWeights, readJsonFile } from "./component-files.js";
import { ConfigError } from "./read-config.js";
import { openSingleFile, openSingleFileAutoencoder, type SingleFileOptions } from "./single-file.js";
import { readUNetConfig } from "./unet-2d-condition-model.js";

export interface OpenOptions extends SingleFileOptions {
  /** which of several weight files to take where a folder holds both */
  readonly variant?: "fp16";
}

export async function openCheckpoint(checkpointPath: string, options: OpenOptions = {}): Promise<Checkpoint> {
  const info = await stat(checkpointPath).catch((cause: unknown) => {
    throw new CheckpointError(checkpointPath, "there is no such file or folder", { cause });
  });
  return info.isDirectory() ? openFolder(checkpointPath, options) : openSingleFile(checkpointPath, options);
}

/** Opens an autoencoder by itself: a folder with config.json, or a file in the original or diffusers naming. */
export async function openAutoencoder(vaePath: string): Promise<Component<AutoencoderConfig>> {
  if (!(await isFolder(vaePath))) return openSingleFileAutoencoder(vaePath);
  const inner = path.join(vaePath, "vae");
  return openComponent((await isFolder(inner)) ? inner : vaePath, readAutoencoderConfig, {});
}

async function openFolder(folder: string, options: OpenOptions): Promise<Checkpoint> {
  const modelIndex = await readJsonFile(path.join(folder, "model_index.json"));
  if (modelIndex === undefined) {
    throw new CheckpointError(folder, "it has no model_index.json, so it is no folder in diffusers layout");
  }
  refuseForeignPipeline(folder, modelIndex);
  const at = (name: string): string => path.join(folder, name);
  const unet = await openComponent(at("unet"), readUNetConfig, options);
  const vae = await openComponent(at("vae"), readAutoencoderConfig, options);
  const textEncoder = await openIfListed(modelIndex, at, "text_encoder", options);
  const textEncoder2 = await openIfListed(modelIndex, at, "text_encoder_2", options);
  if (!textEncoder && !textEncoder2) throw new CheckpointError(folder, "it has no text encoder");
  if (textEncoder && !textEncoder2)
    checkTextWidth(folder, unet.config.crossAttentionDim, textEncoder.config.hiddenSize);
  const components = [unet, vae, textEncoder, textEncoder2];
  return {
    kind: unet.config.textTime ? "sdxl" : "sd",
    path: folder,
    unet,
    vae,
    textEncoder,
    textEncoder2,
    tokenizer: (await isFolder(at("tokenizer"))) ? at("tokenizer") : undefined,
    tokenizer2: (await isFolder(at("tokenizer_2"))) ? at("tokenizer_2") : undefined,
    schedulerConfig: (await readJsonFile(at("scheduler/scheduler_config.json"))) ?? {},
    modelIndex,
    bytes: components.reduce((sum, component) => sum + (component ? totalBytes(component.source) : 0), 0),
  };
}

function checkTextWidth(folder: string, wanted: number, found: number): void {
  if (wanted === found) return;
  throw new CheckpointError(
    folder,
    `unet/config.json has cross_attention_dim ${wanted}, but text_encoder/config.json has hidden_size ${found}: they do not belong together`,
  );
}

/** Pipelines of this family share their parts; anything else (FLUX, SD 3, video) has parts we do not build. */
function refuseForeignPipeline(folder: string, modelIndex: Readonly<Record<string, unknown>>): void {
  const unet = modelIndex["unet"];
  if (Array.isArray(unet) && unet[1] === "UNet2DConditionModel") return;
  throw new CheckpointError(
    folder,
    `model_index.json describes a ${String(modelIndex["_class_name"])} whose unet is ${JSON.stringify(unet)}; supported: pipelines around a UNet2DConditionModel (Stable Diffusion 1, 2, XL and kin)`,
  );
}

async function openIfListed(
  modelIndex: Readonly<Record<string, unknown>>,
  at: (name: string) => string,
  name: string,
  options: OpenOptions,
): Promise<Component<ReturnType<typeof readCLIPTextConfig>> | undefined> {
  const entry = modelIndex[name];
  if (!Array.isArray(entry) || entry[1] === null) return undefined;
  if (entry[1] !== "CLIPTextModel" && entry[1] !== "CLIPTextModelWithProjection") {
    throw new ConfigError(at("model_index.json"), name, entry, "supported: CLIPTextModel, CLIPTextModelWithProjection");
  }
  return openComponent(at(name), readCLIPTextConfig, options);
}

function readAutoencoderConfig(json: Readonly<Record<string, unknown>>, origin: string): AutoencoderConfig {
  return json["_class_name"] === "AutoencoderTiny"
    ? readAutoencoderTinyConfig(json, origin)
    : readAutoencoderKLConfig(json, origin);
}

async function openComponent<Config>(
  folder: string,
  readConfig: (json: Readonly<Record<string, unknown>>, origin: string) => Config,
  options: OpenOptions,
): Promise<Component<Config>> {
  const file = path.join(folder, "config.json");
  const json = await readJsonFile(file);
  if (json === undefined) throw new CheckpointError(folder, "it has no config.json");
  const config = readConfig(json, file);
  return { config, source: await openComponentWeights(folder, options.variant) };
}
