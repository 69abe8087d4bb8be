/** Any error of the engine process as a code and a sentence. */
import { InvalidInputError } from "@kit/diffusion";
import { EngineError, type EngineErrorCode } from "./engine-api.js";

/** How onnxruntime, its allocators and Node say that memory ran out. */
const MEMORY_MESSAGES =
  /bad_alloc|failed to allocate|out of memory|array buffer allocation failed|invalid (typed )?array length/i;

export function explainError(error: unknown): { code: EngineErrorCode; message: string } {
  if (error instanceof EngineError) return { code: error.code, message: error.message };
  if (error instanceof InvalidInputError) return { code: "VALIDATION_ERROR", message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  if (MEMORY_MESSAGES.test(message)) {
    return {
      code: "OUT_OF_MEMORY",
      message: `memory ran out: ${message}; use a smaller size, fewer or quantised models`,
    };
  }
  return { code: "INFERENCE_ERROR", message };
}
