/**
 * What the server knows of the engine. The real one (engine-host.ts) talks to a child process; nothing here touches tensors.
 * Every method may be called at any time; calls that need the engine's one worker wait in line inside it, the getters never wait.
 */

import type { TrainedSizes } from "@kit/diffusion";

/** Where a resolved model's files lie, and how to run them. Two models with equal `name` are the same model. */
export interface ModelFiles {
  /** canonical `<name>:<variant>` */
  readonly name: string;
  /** a folder in diffusers layout, or one single-file checkpoint (.safetensors, .gguf) */
  readonly path: string;
  /** adapters merged into the model for good, e.g. the few-step adapter of a turbo variant */
  readonly builtInAdapters?: readonly AdapterUse[];
  /** a folder or file that replaces the model's own VAE (AutoencoderTiny for instance) */
  readonly vaePath?: string;
  /** linear layers in 8 or 4 bit blocks of 32; made at load */
  readonly quantisation?: "q8" | "q4";
  /** overrides of scheduler_config.json by its own field names, plus `_class_name` to choose another scheduler */
  readonly scheduler?: Readonly<Record<string, unknown>>;
  readonly clipSkip?: number;
  /** largest pixel area drawn natively; larger requests are drawn at the best smaller size and enlarged */
  readonly nativeArea?: number;
  /** pictures from text are drawn at one of these sizes, and brought to the shape and size that were asked for */
  readonly trainedSizes?: TrainedSizes;
}

export interface AdapterUse {
  readonly path: string;
  readonly scale: number;
}

/** 8-bit RGB pixels, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

export interface EngineJob {
  readonly model: ModelFiles;
  readonly prompt: string;
  readonly negativePrompt: string;
  readonly width: number;
  readonly height: number;
  readonly steps: number;
  readonly guidance: number;
  /** image i uses seed + i */
  readonly seed: number;
  readonly batch: number;
  /** already resized to width x height */
  readonly image?: Pixels;
  readonly strength?: number;
  /** one byte a pixel, width x height; 255 is repainted, 0 kept */
  readonly mask?: Uint8Array;
  readonly adapters: readonly AdapterUse[];
  /** send small previews of the latents while denoising */
  readonly preview: boolean;
}

export type EngineProgress =
  | { readonly type: "stage_start"; readonly name: string }
  | { readonly type: "stage_done"; readonly name: string; readonly elapsedMs: number }
  | {
      readonly type: "weight_load";
      readonly component: string;
      readonly bytesLoaded: number;
      readonly bytesTotal: number;
    }
  /** `step` counts from 1 over all images of a batch's one image; `image` is the index in the batch */
  | {
      readonly type: "denoise_step";
      readonly step: number;
      readonly total: number;
      readonly elapsedMs: number;
      readonly image: number;
    }
  | { readonly type: "preview"; readonly step: number; readonly pixels: Pixels }
  | { readonly type: "info"; readonly message: string };

export interface EngineResult {
  readonly images: readonly Pixels[];
  /** time spent by the engine on this job, loading included, waiting excluded */
  readonly elapsedMs: number;
  /** things the user should know: prompt cut, size not native, drawn small and enlarged ... */
  readonly warnings: readonly string[];
}

export interface GpuInfo {
  readonly name: string;
  readonly vramTotalMb: number;
  readonly vramUsedMb: number;
}

export interface EngineStatus {
  readonly busy: boolean;
  readonly modelsLoaded: readonly string[];
  readonly backend: "cpu" | "webgpu" | "cuda";
  readonly gpu: GpuInfo | null;
  /** resident bytes of the engine process, 0 when it is not running */
  readonly residentBytes: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: EngineProgress) => void;
}

export interface AdapterCheck {
  readonly matchedLayers: number;
}

export interface Engine {
  generate(job: EngineJob, options?: CallOptions): Promise<EngineResult>;
  load(model: ModelFiles, options?: CallOptions): Promise<{ readonly loadTimeMs: number }>;
  /** waits for the running job; names of what was unloaded; idempotent */
  unload(name?: string): Promise<readonly string[]>;
  /** reads headers only and runs in the caller's process: throws EngineError("VALIDATION_ERROR") if the file is no adapter or fits no layer of the model */
  checkAdapter(model: ModelFiles, adapterPath: string): Promise<AdapterCheck>;
  status(): EngineStatus;
  close(): Promise<void>;
}

export type EngineErrorCode = "VALIDATION_ERROR" | "OUT_OF_MEMORY" | "CANCELLED" | "INFERENCE_ERROR";

/** The only error type the engine rejects with. The message is fit for the user. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  constructor(
    readonly code: EngineErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
