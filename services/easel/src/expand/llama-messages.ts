/** What the server and the language model's own process say to each other. */
import type { Question } from "./language-model.js";

export interface LlamaStart {
  readonly modelPath: string;
  readonly gpu: GpuChoice;
  readonly threads: number;
  /** `model`: as the file says, our own format or its chat template; `chat` insists on the chat template */
  readonly format: "model" | "chat";
}

export const GPU_CHOICES = ["off", "auto", "cuda", "vulkan", "metal"] as const;
export type GpuChoice = (typeof GPU_CHOICES)[number];

export type ToLlama =
  | { readonly type: "ask"; readonly id: number; readonly question: Question }
  | { readonly type: "cancel"; readonly id: number };

export type FromLlama =
  | { readonly type: "answer"; readonly id: number; readonly text: string }
  | {
      readonly type: "failed";
      readonly id: number;
      readonly message: string;
      readonly fault: "request" | "model" | "memory";
    };
