/** Whether an adapter fits a model, found out from headers alone. */
import { openCheckpoint, readAdapter } from "@kit/diffusion";
import { EngineError, type ModelFiles } from "./engine-api.js";
import { createModelMatcher } from "./opened-model.js";

export async function checkAdapter(
  model: ModelFiles,
  adapterPath: string,
): Promise<{ readonly matchedLayers: number }> {
  try {
    const [checkpoint, adapter] = await Promise.all([openCheckpoint(model.path), readAdapter(adapterPath)]);
    return { matchedLayers: createModelMatcher(checkpoint)(adapter).length };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new EngineError("VALIDATION_ERROR", message, { cause: error });
  }
}
