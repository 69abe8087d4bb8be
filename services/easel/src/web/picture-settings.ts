import type { ImageMetadata } from "../contract/gallery.js";
import type { GenerateRequest } from "../contract/generate.js";
import type { ModelDetails } from "../contract/models.js";

/** What the form holds. `undefined` means: the model's own. */
export interface PictureSettings {
  readonly prompt: string;
  readonly negativePrompt: string;
  readonly model: string;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly steps: number | undefined;
  readonly guidance: number | undefined;
  readonly seed: string;
  readonly batch: number;
  readonly format: "png" | "jpeg" | "webp";
  readonly adapter: string;
  readonly adapterScale: number;
  readonly image: InputImage | undefined;
  readonly strength: number;
  /** PNG as a data address; white is repainted */
  readonly mask: string | undefined;
}

export interface InputImage {
  readonly dataUrl: string;
  readonly width: number;
  readonly height: number;
  readonly name: string;
}

export const emptySettings: PictureSettings = {
  prompt: "",
  negativePrompt: "",
  model: "",
  width: undefined,
  height: undefined,
  steps: undefined,
  guidance: undefined,
  seed: "",
  batch: 1,
  format: "png",
  adapter: "",
  adapterScale: 1,
  image: undefined,
  strength: 0.75,
  mask: undefined,
};

const KEY = "easel.settings";

/** Text and numbers outlive a reload; pictures do not, they would fill the browser's storage. */
export function storeSettings(settings: PictureSettings): void {
  localStorage.setItem(KEY, JSON.stringify({ ...settings, image: undefined, mask: undefined }));
}

export function storedSettings(): PictureSettings {
  try {
    return { ...emptySettings, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<PictureSettings>) };
  } catch {
    return emptySettings;
  }
}

export function requestOf(settings: PictureSettings, model: ModelDetails | undefined): GenerateRequest {
  const guidance = settings.guidance ?? model?.defaults.guidance ?? 0;
  return {
    prompt: settings.prompt,
    ...(settings.model === "" ? {} : { model: settings.model }),
    ...(settings.width === undefined || settings.height === undefined
      ? {}
      : { width: settings.width, height: settings.height }),
    ...(settings.steps === undefined ? {} : { steps: settings.steps }),
    ...(settings.guidance === undefined ? {} : { guidance: settings.guidance }),
    ...(settings.seed.trim() === "" ? {} : { seed: Number(settings.seed) }),
    ...(settings.negativePrompt.trim() === "" || guidance <= 1 ? {} : { negative_prompt: settings.negativePrompt }),
    ...(settings.batch === 1 ? {} : { batch: settings.batch }),
    ...(settings.adapter === "" ? {} : { lora: settings.adapter, lora_scale: settings.adapterScale }),
    ...(settings.image === undefined ? {} : { image: settings.image.dataUrl, strength: settings.strength }),
    ...(settings.image !== undefined && settings.mask !== undefined ? { mask: settings.mask } : {}),
    output_format: settings.format,
  };
}

/** "Use these settings": everything of the picture but the picture it may have been made from. */
export function settingsOf(metadata: ImageMetadata, before: PictureSettings): PictureSettings {
  return {
    ...before,
    prompt: metadata.prompt,
    negativePrompt: metadata.negative_prompt,
    model: metadata.model,
    width: metadata.width,
    height: metadata.height,
    steps: metadata.steps,
    guidance: metadata.guidance,
    seed: String(metadata.seed),
    batch: 1,
    adapter: metadata.lora ?? "",
    adapterScale: metadata.lora_scale ?? 1,
    strength: metadata.strength ?? before.strength,
    image: undefined,
    mask: undefined,
  };
}
