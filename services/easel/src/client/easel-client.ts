import type { ExpandRequest, ExpandResponse } from "../contract/expand.js";
import type { GalleryPage } from "../contract/gallery.js";
import type { GenerateProgress, GenerateRequest, OutputFormat } from "../contract/generate.js";
import type { JobRow } from "../contract/jobs.js";
import type {
  AdapterList,
  LoadResponse,
  ModelDetails,
  ModelRow,
  PullProgress,
  RemoveModelResponse,
} from "../contract/models.js";
import type { Status } from "../contract/status.js";

/** The public API as the command line and the terminal UI use it; every method is one request. */
export interface EaselClient {
  readonly baseUrl: string;
  status(signal?: AbortSignal): Promise<Status>;
  listModels(signal?: AbortSignal): Promise<readonly ModelRow[]>;
  describeModel(name: string): Promise<ModelDetails>;
  loadModel(model: string, signal?: AbortSignal): Promise<LoadResponse>;
  unloadModels(): Promise<readonly string[]>;
  removeModel(name: string): Promise<RemoveModelResponse>;
  pullModel(
    model: string,
    options: { onProgress: (progress: PullProgress) => void; signal?: AbortSignal },
  ): Promise<void>;
  listAdapters(): Promise<AdapterList>;
  generate(request: GenerateRequest, options: GenerateOptions): Promise<DrawnPictures>;
  expand(request: ExpandRequest, signal?: AbortSignal): Promise<ExpandResponse>;
  listJobs(signal?: AbortSignal): Promise<readonly JobRow[]>;
  cancelJob(id: string): Promise<{ readonly id: string; readonly state: string }>;
  listGallery(page: { limit: number; offset: number }): Promise<GalleryPage>;
  fetchImage(name: string): Promise<Uint8Array>;
  fetchThumbnail(name: string): Promise<Uint8Array>;
  deleteImage(name: string): Promise<void>;
}

export interface GenerateOptions {
  readonly onProgress?: (progress: GenerateProgress) => void;
  /** aborting also cancels the job on the server */
  readonly signal?: AbortSignal;
  readonly preview?: boolean;
}

export interface DrawnPicture {
  readonly bytes: Uint8Array;
  readonly format: OutputFormat;
  readonly width: number;
  readonly height: number;
  readonly index: number;
}

export interface DrawnPictures {
  readonly images: readonly DrawnPicture[];
  readonly generationTimeMs: number;
  readonly model: string;
  readonly seedUsed: number;
  /** only when the prompt was expanded */
  readonly expandedPrompt: string | undefined;
}
