import type { TensorSource } from "@kit/tensor-files";
import type { AutoencoderKLConfig } from "./autoencoder-kl.js";
import type { AutoencoderTinyConfig } from "./autoencoder-tiny.js";
import type { CLIPTextConfig } from "./clip-text-model.js";
import type { UNetConfig } from "./unet-2d-condition-model.js";

/** One network of a checkpoint: what config.json says of it and where its weights lie. */
export interface Component<Config> {
  readonly config: Config;
  readonly source: TensorSource;
}

export type AutoencoderConfig = AutoencoderKLConfig | AutoencoderTinyConfig;

/** Everything a pipeline needs, whichever way it lies on disk. Nothing but headers and configs has been read. */
export interface Checkpoint {
  /** "sd": one text encoder, its last states; "sdxl": pooled text and picture sizes as well */
  readonly kind: "sd" | "sdxl";
  /** folder or file it was opened from */
  readonly path: string;
  readonly unet: Component<UNetConfig>;
  readonly vae: Component<AutoencoderConfig>;
  /** absent only in SDXL checkpoints that use the second encoder alone (the refiner) */
  readonly textEncoder: Component<CLIPTextConfig> | undefined;
  readonly textEncoder2: Component<CLIPTextConfig> | undefined;
  /** folders with vocab.json and merges.txt (or tokenizer.json); undefined where the checkpoint brings none */
  readonly tokenizer: string | undefined;
  readonly tokenizer2: string | undefined;
  /** scheduler_config.json, or what is known of the family where there is none */
  readonly schedulerConfig: Readonly<Record<string, unknown>>;
  /** model_index.json where there is one: force_zeros_for_empty_prompt and the like */
  readonly modelIndex: Readonly<Record<string, unknown>>;
  /** bytes of all weights in their stored types */
  readonly bytes: number;
}

/** A folder or file that is no usable checkpoint. The message names what is missing and where it was looked for. */
export class CheckpointError extends Error {
  override readonly name = "CheckpointError";
  constructor(
    readonly path: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`${path}: ${problem}`, options);
  }
}
