/** One job from its turn in the line to finished files: expand, draw, encode, save. */
import type { QueuedJob } from "@kit/job-queue";
import type { ImageMetadata } from "../contract/gallery.js";
import type { GenerateProgress } from "../contract/generate.js";
import type { Engine, EngineJob, EngineProgress, Pixels } from "../engine/engine-api.js";
import { encodeImage, encodePreview } from "../gallery/encode-image.js";
import type { Gallery } from "../gallery/gallery.js";
import type { KnownModel } from "../models/known-model.js";
import type { ModelStore } from "../models/model-store.js";
import type { GenerationResult, MadeImage } from "./generation-result.js";
import type { SettledRequest } from "./settled-request.js";

export interface ExpandCall {
  readonly prompt: string;
  /** the image model the words are for */
  readonly model: KnownModel;
  readonly seed: number;
  readonly signal: AbortSignal;
}

export interface WorkerOptions {
  readonly engine: Engine;
  readonly models: ModelStore;
  readonly gallery: Gallery;
  readonly expandPrompt: (call: ExpandCall) => Promise<string>;
  readonly version: string;
  readonly onProgress: (id: string, progress: GenerateProgress) => void;
}

export type Worker = (job: QueuedJob<SettledRequest>, signal: AbortSignal) => Promise<GenerationResult>;

export function createWorker(options: WorkerOptions): Worker {
  return async ({ id, payload: request }, signal) => {
    const tell = (progress: GenerateProgress) => options.onProgress(id, progress);
    try {
      return await makePictures(request, signal, tell, options);
    } catch (error) {
      // Why it was aborted says more than what broke because of it.
      throw signal.aborted ? signal.reason : error;
    }
  };
}

async function makePictures(
  request: SettledRequest,
  signal: AbortSignal,
  tell: (progress: GenerateProgress) => void,
  { engine, models, gallery, expandPrompt, version }: WorkerOptions,
): Promise<GenerationResult> {
  const startedAt = performance.now();
  for (const message of request.warnings) tell({ type: "info", message });
  const model = await models.resolveUsable(request.model);
  const prompt = request.expand ? await expand(request, model, signal, tell, expandPrompt) : request.prompt;
  const calledAt = performance.now();
  const drawn = await engine.generate(engineJob({ ...request, prompt }, model), {
    signal,
    onProgress: createRelay(tell),
  });
  // Another client may have been loading a model: the engine's own clock knows what this job took.
  const waitedMs = Math.max(0, performance.now() - calledAt - drawn.elapsedMs);
  signal.throwIfAborted();
  for (const message of drawn.warnings) tell({ type: "info", message });
  tell({ type: "stage_start", name: "encoding image" });
  const encoded = await Promise.all(
    drawn.images.map((pixels, index) => encode(pixels, index, { ...request, prompt }, request, version)),
  );
  const generationTimeMs = Math.round(performance.now() - startedAt - waitedMs);
  const { images, problem } = await save(encoded, gallery);
  if (problem !== undefined) tell({ type: "info", message: problem });
  return {
    images,
    generationTimeMs,
    model: model.name,
    seed: request.seed,
    warnings: [...request.warnings, ...drawn.warnings, ...(problem === undefined ? [] : [problem])],
    ...(request.expand && { originalPrompt: request.prompt, expandedPrompt: prompt }),
  };
}

async function expand(
  request: SettledRequest,
  model: KnownModel,
  signal: AbortSignal,
  tell: (progress: GenerateProgress) => void,
  expandPrompt: WorkerOptions["expandPrompt"],
): Promise<string> {
  tell({ type: "stage_start", name: "expanding prompt" });
  const startedAt = performance.now();
  const prompt = await expandPrompt({ prompt: request.prompt, model, seed: request.seed, signal });
  tell({ type: "stage_done", name: "expanding prompt", elapsed_ms: Math.round(performance.now() - startedAt) });
  tell({ type: "info", message: `prompt expanded to: ${prompt}` });
  return prompt;
}

function engineJob(request: SettledRequest, model: KnownModel): EngineJob {
  const { width, height, image, mask, adapter } = request;
  return {
    model: model.files,
    prompt: request.prompt,
    negativePrompt: request.negativePrompt,
    width,
    height,
    steps: request.steps,
    guidance: request.guidance,
    seed: request.seed,
    batch: request.batch,
    ...(image && { image: { width, height, rgb: image.bytes } }),
    ...(request.strength !== undefined && { strength: request.strength }),
    ...(mask && { mask: mask.bytes }),
    adapters: adapter ? [{ path: adapter.path, scale: adapter.scale }] : [],
    preview: request.preview,
  };
}

/** From the engine's words to the API's. A stage comes before the first step whatever the engine says. */
function createRelay(tell: (progress: GenerateProgress) => void): (progress: EngineProgress) => void {
  let staged = false;
  let image = 0;
  return (progress) => {
    switch (progress.type) {
      case "stage_start":
        staged = true;
        return tell({ type: "stage_start", name: progress.name });
      case "stage_done":
        return tell({ type: "stage_done", name: progress.name, elapsed_ms: Math.round(progress.elapsedMs) });
      case "weight_load":
        return tell({
          type: "weight_load",
          component: progress.component,
          bytes_loaded: progress.bytesLoaded,
          bytes_total: progress.bytesTotal,
        });
      case "denoise_step":
        if (!staged) tell({ type: "stage_start", name: "denoising" });
        staged = true;
        if (progress.image !== image) tell({ type: "info", message: `image ${progress.image + 1} of the batch` });
        image = progress.image;
        return tell({
          type: "denoise_step",
          step: progress.step,
          total: progress.total,
          elapsed_ms: Math.round(progress.elapsedMs),
        });
      case "preview":
        // A preview that cannot be encoded is simply not shown.
        void encodePreview(progress.pixels).then(
          (encoded) => tell({ type: "preview", step: progress.step, image: encoded }),
          () => {},
        );
        return;
      case "info":
        return tell({ type: "info", message: progress.message });
    }
  };
}

interface EncodedImage extends MadeImage {
  readonly metadata: ImageMetadata;
}

async function encode(
  pixels: Pixels,
  index: number,
  drawn: SettledRequest,
  asked: SettledRequest,
  version: string,
): Promise<EncodedImage> {
  const { image, mask, adapter } = drawn;
  const metadata: ImageMetadata = {
    prompt: drawn.prompt,
    ...(asked.expand && { original_prompt: asked.prompt }),
    negative_prompt: drawn.negativePrompt,
    model: drawn.model,
    seed: drawn.seed + index,
    steps: drawn.steps,
    guidance: drawn.guidance,
    width: drawn.width,
    height: drawn.height,
    ...(drawn.strength !== undefined && { strength: drawn.strength }),
    ...(image && { image_sha256: image.sha256 }),
    ...(mask && { mask_sha256: mask.sha256 }),
    ...(adapter && { lora: adapter.asked, lora_scale: adapter.scale }),
    version,
  };
  const bytes = await encodeImage(pixels, drawn.outputFormat, metadata);
  return { bytes, format: drawn.outputFormat, width: pixels.width, height: pixels.height, index, metadata };
}

/** A picture that cannot be saved still goes to the client, with a word about it. */
async function save(
  encoded: readonly EncodedImage[],
  gallery: Gallery,
): Promise<{ images: MadeImage[]; problem?: string }> {
  const images: MadeImage[] = [];
  let problem: string | undefined;
  for (const { metadata, ...image } of encoded) {
    try {
      const name = await gallery.save({ ...image, metadata });
      images.push(name === undefined ? image : { ...image, name });
    } catch (error) {
      problem = (error as Error).message;
      images.push(image);
    }
  }
  return problem === undefined ? { images } : { images, problem };
}
