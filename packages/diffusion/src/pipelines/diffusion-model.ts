import type { Scheduler } from "../schedulers/schedule.js";
import type { ClipTokenizer } from "../tokenizers/clip-tokenizer.js";
import type { Session } from "./session.js";

/**
 * A checkpoint as pipelines see it. The `open` functions may load a component, or only look it up: whoever provides them decides
 * what stays in memory, so a pipeline opens a component when it needs it and keeps no session beyond that use.
 */
export interface DiffusionModel {
  /** one, or two for SDXL; their hidden states are joined feature by feature, in this order */
  readonly textEncoders: readonly TextEncoderPart[];
  readonly unet: UnetPart;
  readonly vae: VaePart;
  /** doubles a picture's sides; few models bring one */
  readonly upscaler: UpscalerPart | undefined;
  readonly scheduler: Scheduler;
  /** SDXL base: an empty negative prompt is all zeros instead of an encoded empty text */
  readonly zerosForEmptyPrompt: boolean;
}

export interface TextEncoderPart {
  readonly tokenizer: ClipTokenizer;
  readonly hiddenSize: number;
  /** size of "pooled" if this encoder provides the pooled embedding of text_time conditioning */
  readonly pooledSize: number | undefined;
  open(): Promise<Session>;
}

export interface UnetPart {
  readonly inChannels: number;
  readonly outChannels: number;
  /** LCM: width of the embedded guidance scale */
  readonly guidanceWidth: number | undefined;
  /** SDXL: pooled text and six size numbers go in as well */
  readonly hasTextTime: boolean;
  open(): Promise<Session>;
}

export interface VaePart {
  readonly latentChannels: number;
  /** pixels per latent cell along one side */
  readonly factor: number;
  readonly scalingFactor: number;
  readonly shiftFactor: number;
  openEncoder(): Promise<Session>;
  openDecoder(): Promise<Session>;
}

export interface UpscalerPart {
  readonly scale: number;
  open(): Promise<Session>;
}

/** Whether the UNet is an inpainting one: latents, mask and masked latents side by side. */
export function isInpaintingUnet(model: DiffusionModel): boolean {
  return model.unet.inChannels === 2 * model.vae.latentChannels + 1;
}
