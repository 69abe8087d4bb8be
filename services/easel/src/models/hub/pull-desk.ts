import type { PullProgress } from "../../contract/models.js";
import type { KnownModel } from "../known-model.js";
import type { Hub } from "./hub-client.js";
import { pullModel } from "./pull-model.js";
import { createSharedDownloads } from "./shared-downloads.js";

export interface PullDesk {
  /** Brings the model's files. Several pulls of one model, or of models that share files, share the downloads. */
  pull(
    model: KnownModel,
    options: { readonly signal: AbortSignal; readonly onProgress: (progress: PullProgress) => void },
  ): Promise<void>;
  /** Ends every pull; what has arrived stays for the next one. */
  close(): void;
}

export function createPullDesk(
  hub: Hub,
  modelsFolder: string,
  settings: Parameters<typeof createSharedDownloads>[0] = {},
): PullDesk {
  const downloads = createSharedDownloads(settings);
  const closing = new AbortController();
  return {
    pull: (model, { signal, onProgress }) =>
      pullModel(model, { hub, downloads, modelsFolder, signal: AbortSignal.any([signal, closing.signal]), onProgress }),
    close: () => closing.abort(),
  };
}
