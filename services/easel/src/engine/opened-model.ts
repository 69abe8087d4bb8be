/** A model's files, opened: headers, configs, tokenizers, scheduler and adapter tables. No weights are in memory yet. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  type AutoencoderConfig,
  type Checkpoint,
  type CLIPTextConfig,
  type ClipTokenizer,
  type Component,
  createLayerMatcher,
  createScheduler,
  InvalidInputError,
  type LayerMatcher,
  openAutoencoder,
  openCheckpoint,
  openClipTokenizer,
  openUpscaler,
  overrideSchedulerConfig,
  type Scheduler,
} from "@kit/diffusion";
import type { ModelFiles } from "./engine-api.js";
import { type ComponentPlan, planTextEncoders, planUnet, planUpscaler, planVae } from "./model-components.js";

export interface OpenedModel {
  readonly files: ModelFiles;
  readonly checkpoint: Checkpoint;
  readonly vae: Component<AutoencoderConfig>;
  readonly scheduler: Scheduler;
  /** in the order their states are joined; tokenizers are cut to their encoder's length */
  readonly textEncoders: readonly OpenedTextEncoder[];
  readonly unet: ComponentPlan;
  readonly vaeEncoder: ComponentPlan;
  readonly vaeDecoder: ComponentPlan;
  readonly upscaler: { readonly plan: ComponentPlan; readonly scale: number } | undefined;
  readonly matchAdapter: LayerMatcher;
}

export interface OpenedTextEncoder {
  readonly plan: ComponentPlan;
  readonly config: CLIPTextConfig;
  readonly tokenizer: ClipTokenizer;
}

/** SDXL's base nets take six numbers about the picture's size; its refiner takes five and is a model for a second pass only. */
const SIZE_NUMBERS = 6;

export async function openModel(files: ModelFiles, tokenizerFolder: string | undefined): Promise<OpenedModel> {
  const checkpoint = await openCheckpoint(files.path);
  const vae = files.vaePath === undefined ? checkpoint.vae : await openAutoencoder(files.vaePath);
  const upscaler = await openUpscaler(files.path);
  checkParts(checkpoint, vae, files);
  const configs = [checkpoint.textEncoder, checkpoint.textEncoder2].filter((encoder) => encoder !== undefined);
  const plans = planTextEncoders(checkpoint, files.clipSkip);
  const textEncoders: OpenedTextEncoder[] = [];
  for (const [i, plan] of plans.entries()) {
    const folder = plan.name === "text_encoder" ? checkpoint.tokenizer : checkpoint.tokenizer2;
    textEncoders.push(await pairWithTokenizer(plan, configs[i]!.config, folder ?? tokenizerFolder, files));
  }
  return {
    files,
    checkpoint,
    vae,
    scheduler: createScheduler(overrideSchedulerConfig(checkpoint.schedulerConfig, files.scheduler ?? {})),
    textEncoders,
    unet: planUnet(checkpoint),
    vaeEncoder: planVae(vae, "encoder"),
    vaeDecoder: planVae(vae, "decoder"),
    upscaler: upscaler && { plan: planUpscaler(upscaler), scale: upscaler.config.scale },
    matchAdapter: createModelMatcher(checkpoint),
  };
}

export function createModelMatcher(checkpoint: Checkpoint): LayerMatcher {
  return createLayerMatcher({
    unet: checkpoint.unet.source,
    unetLayers: checkpoint.unet.config.downBlocks[0]!.transformers.length,
    textEncoder: checkpoint.textEncoder?.source,
    textEncoder2: checkpoint.textEncoder2?.source,
  });
}

/** Changes whenever the files may have: a model pulled again must not be served from old sessions. */
export async function fingerprintModel(files: ModelFiles): Promise<string> {
  const paths = [files.path, join(files.path, "model_index.json"), files.vaePath].filter((path) => path !== undefined);
  const stamps = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mtimeMs, size }) => `${mtimeMs}.${size}`,
        () => "-",
      ),
    ),
  );
  return JSON.stringify([files, stamps]);
}

function checkParts(checkpoint: Checkpoint, vae: Component<AutoencoderConfig>, files: ModelFiles): void {
  const { latentChannels } = vae.config;
  const { inChannels, outChannels, textTime } = checkpoint.unet.config;
  if (outChannels !== latentChannels || (inChannels !== latentChannels && inChannels !== 2 * latentChannels + 1)) {
    throw new InvalidInputError(
      `${files.vaePath ?? files.path}: the VAE has ${latentChannels} latent channels, but the UNet takes ${inChannels} and gives ${outChannels}: they do not belong together`,
    );
  }
  if (!textTime) return;
  const pooled = checkpoint.textEncoder2?.config.projection;
  const numbers = pooled === undefined ? 0 : (textTime.inputDim - pooled) / textTime.timeEmbedDim;
  if (numbers !== SIZE_NUMBERS) {
    throw new InvalidInputError(
      `${files.path}: the UNet's projection_class_embeddings_input_dim (${textTime.inputDim}) does not fit text_encoder_2; refiners and mismatched parts cannot be used`,
    );
  }
}

async function pairWithTokenizer(
  plan: ComponentPlan,
  config: CLIPTextConfig,
  folder: string | undefined,
  files: ModelFiles,
): Promise<OpenedTextEncoder> {
  if (folder === undefined) {
    throw new InvalidInputError(
      `${files.path}: no tokenizer comes with it; put a folder "tokenizer" with CLIP's vocab.json and merges.txt beside it`,
    );
  }
  const tokenizer = await openClipTokenizer(folder);
  const largest = Math.max(tokenizer.startToken, tokenizer.endToken, tokenizer.padToken);
  if (largest >= config.vocabSize) {
    throw new InvalidInputError(
      `${folder}: token ${largest} lies beyond the text encoder's vocabulary of ${config.vocabSize}: they do not belong together`,
    );
  }
  return { plan, config, tokenizer: { ...tokenizer, maxLength: config.length } };
}
