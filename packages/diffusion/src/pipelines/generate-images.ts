/** Text to image, image to image and inpainting: one written-out sequence, with the differences where they occur. */
import { InvalidInputError } from "../invalid-input-error.js";
import { denoise, type StepReport } from "./denoise.js";
import { type DiffusionModel, isInpaintingUnet } from "./diffusion-model.js";
import { type EncodedPrompts, encodePrompts } from "./encode-prompt.js";
import { compositePixels, encodeInpaintingInputs, shrinkMask } from "./inpainting.js";
import type { Latents } from "./latents.js";
import type { Pixels } from "./pixels.js";
import { createNoisePredictor } from "./predict-noise.js";
import { decodeLatents, encodePixels } from "./vae.js";

export interface GenerateRequest {
  readonly prompt: string;
  readonly negativePrompt: string;
  readonly width: number;
  readonly height: number;
  readonly steps: number;
  readonly guidance: number;
  /** image i uses seed + i */
  readonly seed: number;
  readonly batch: number;
  /** of width x height */
  readonly image?: Pixels | undefined;
  readonly strength?: number | undefined;
  /** one byte a pixel; 255 is repainted, 0 kept */
  readonly mask?: Uint8Array | undefined;
}

export interface GenerateHooks {
  /** both sides of guidance in one UNet call */
  readonly batchGuidance: boolean;
  /** runs one named stage; the caller times and reports it */
  stage<T>(name: GenerateStage, work: () => Promise<T>): Promise<T>;
  /** after every step; throwing ends the run */
  onStep(image: number, step: StepReport): void | Promise<void>;
  /** before every image and stage; throwing ends the run */
  checkCancelled(): void;
}

export type GenerateStage =
  | "encoding prompt"
  | "encoding image"
  | "denoising"
  | "decoding"
  | "continuing edges"
  | "enlarging";

export interface GeneratedImages {
  readonly images: readonly Pixels[];
  readonly warnings: readonly string[];
}

/** Steps an image-to-image run takes: whole steps of the strength, at least one unless the strength is 0. */
export function countImageSteps(steps: number, strength: number): number {
  if (strength <= 0) return 0;
  // 0.29 * 100 is 28.999... in binary; a hair's breadth must not cost a step
  return Math.min(steps, Math.max(1, Math.floor(steps * strength + 1e-9)));
}

export async function generateImages(
  model: DiffusionModel,
  request: GenerateRequest,
  hooks: GenerateHooks,
): Promise<GeneratedImages> {
  checkRequest(model, request);
  const { image, mask } = request;
  const start = await prepareStart(model, request, hooks);
  const { latents, warnings } = await drawLatents(model, request, hooks, start);
  hooks.checkCancelled();
  const images = await hooks.stage("decoding", async () => {
    const decoded: Pixels[] = [];
    for (const result of latents) {
      hooks.checkCancelled();
      const painted = await decodeLatents(model.vae, result);
      decoded.push(image && mask ? compositePixels(painted, image, mask) : painted);
    }
    return decoded;
  });
  return { images, warnings };
}

/** What a run starts from besides noise, encoded once for all images of a batch. */
interface Start {
  readonly stepCount: number;
  readonly imageLatents: Latents | undefined;
  readonly maskCells: Float32Array | undefined;
  readonly extraChannels: Float32Array | undefined;
  readonly fromPureNoise: boolean;
}

async function prepareStart(model: DiffusionModel, request: GenerateRequest, hooks: GenerateHooks): Promise<Start> {
  const { image, mask, width, height } = request;
  const strength = image ? (request.strength ?? 1) : 1;
  const prepare = async () => ({
    stepCount: countImageSteps(request.steps, strength),
    imageLatents: image && (await encodePixels(model.vae, image)),
    maskCells: mask && !isInpaintingUnet(model) ? shrinkMask(mask, width, height, model.vae.factor) : undefined,
    extraChannels: await encodeInpaintingInputs(model, width, height, image, mask),
    fromPureNoise: mask !== undefined && strength >= 1,
  });
  return image || isInpaintingUnet(model) ? hooks.stage("encoding image", prepare) : prepare();
}

async function drawLatents(
  model: DiffusionModel,
  request: GenerateRequest,
  hooks: GenerateHooks,
  start: Start,
): Promise<{ latents: Latents[]; warnings: readonly string[] }> {
  const { batch, seed, steps, width, height, guidance } = request;
  if (start.stepCount === 0) return { latents: Array.from({ length: batch }, () => start.imageLatents!), warnings: [] };
  hooks.checkCancelled();
  const prompts = await hooks.stage("encoding prompt", () => encodeForGuidance(model, request));
  hooks.checkCancelled();
  const predictor = createNoisePredictor(model, {
    ...prompts,
    guidance,
    width,
    height,
    batchGuidance: hooks.batchGuidance,
  });
  // loaded before the clock of the steps starts
  await model.unet.open();
  hooks.checkCancelled();
  const latents = await hooks.stage("denoising", async () => {
    const drawn: Latents[] = [];
    for (let index = 0; index < batch; index++) {
      drawn.push(
        await denoise({
          schedule: model.scheduler.createSchedule(steps),
          predictor,
          channels: model.vae.latentChannels,
          height: height / model.vae.factor,
          width: width / model.vae.factor,
          seed: offsetSeed(seed, index),
          firstStep: steps - start.stepCount,
          imageLatents: start.imageLatents?.data,
          maskCells: start.maskCells,
          extraChannels: start.extraChannels,
          fromPureNoise: start.fromPureNoise,
          onStep: (step) => hooks.onStep(index, step),
        }),
      );
    }
    return drawn;
  });
  return { latents, warnings: prompts.warnings };
}

/** The seed of image `index`. Past the largest seed the count goes on at 0. */
export function offsetSeed(seed: number, index: number): number {
  return seed <= Number.MAX_SAFE_INTEGER - index ? seed + index : index - (Number.MAX_SAFE_INTEGER - seed) - 1;
}

/** Guidance up to 1 has no use for the negative prompt; nets with an embedded guidance scale never have. */
function encodeForGuidance(model: DiffusionModel, request: GenerateRequest): Promise<EncodedPrompts> {
  const needsNegative = request.guidance > 1 && model.unet.guidanceWidth === undefined;
  return encodePrompts(model, request.prompt, request.negativePrompt, needsNegative);
}

function checkRequest(model: DiffusionModel, request: GenerateRequest): void {
  const { width, height, image, mask } = request;
  const { factor, latentChannels } = model.vae;
  for (const [name, size] of Object.entries({ width, height })) {
    if (!Number.isInteger(size) || size < factor || size % factor !== 0) {
      throw new InvalidInputError(`${name} = ${size} is not a positive multiple of ${factor}, which this model needs`);
    }
  }
  if (image && (image.width !== width || image.height !== height)) {
    throw new InvalidInputError(`image is ${image.width}x${image.height}, but ${width}x${height} was asked for`);
  }
  if (mask && !image) throw new InvalidInputError("mask needs an image");
  if (mask && mask.length !== width * height) {
    throw new InvalidInputError(`mask has ${mask.length} bytes, but ${width}x${height} needs ${width * height}`);
  }
  if (!isInpaintingUnet(model) && model.unet.inChannels !== latentChannels) {
    throw new InvalidInputError(
      `the UNet takes ${model.unet.inChannels} channels, the VAE has ${latentChannels}: these configs do not belong together`,
    );
  }
  if (model.unet.hasTextTime && !model.textEncoders.some((encoder) => encoder.pooledSize !== undefined)) {
    throw new InvalidInputError(
      "the UNet wants a pooled text embedding, but no text encoder of this model has a projection",
    );
  }
}
