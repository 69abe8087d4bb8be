import type { OutputFormat } from "../contract/generate.js";

/** What a job made. */
export interface GenerationResult {
  readonly images: readonly MadeImage[];
  readonly generationTimeMs: number;
  readonly model: string;
  readonly seed: number;
  readonly warnings: readonly string[];
  /** both present when the prompt was expanded */
  readonly originalPrompt?: string;
  readonly expandedPrompt?: string;
}

export interface MadeImage {
  readonly bytes: Buffer;
  readonly format: OutputFormat;
  readonly width: number;
  readonly height: number;
  readonly index: number;
  /** in the gallery, if it was saved */
  readonly name?: string;
}
