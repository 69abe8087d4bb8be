import { type Static, Type } from "typebox";
import { OutputFormat } from "./generate.js";
import { DEFAULT_GALLERY_PAGE, MAX_GALLERY_PAGE } from "./limits.js";

/** What is written into every picture: enough to make it again. Field names equal the generate request's. */
export const ImageMetadata = Type.Object({
  prompt: Type.String(),
  original_prompt: Type.Optional(Type.String({ description: "Before expansion." })),
  negative_prompt: Type.String(),
  model: Type.String(),
  seed: Type.Integer(),
  steps: Type.Integer(),
  guidance: Type.Number(),
  width: Type.Integer(),
  height: Type.Integer(),
  strength: Type.Optional(Type.Number()),
  image_sha256: Type.Optional(Type.String({ description: "Of the picture it started from, as it was sent." })),
  mask_sha256: Type.Optional(Type.String()),
  lora: Type.Optional(Type.String()),
  lora_scale: Type.Optional(Type.Number()),
  version: Type.String({ description: "Of the server that drew it." }),
});
export type ImageMetadata = Static<typeof ImageMetadata>;

export const GalleryImage = Type.Object({
  name: Type.String(),
  format: OutputFormat,
  width: Type.Integer(),
  height: Type.Integer(),
  size_bytes: Type.Integer(),
  created_at: Type.String(),
  metadata: Type.Union([ImageMetadata, Type.Null()], { description: "Null for a picture made by something else." }),
});
export type GalleryImage = Static<typeof GalleryImage>;

export const GalleryQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_GALLERY_PAGE, default: DEFAULT_GALLERY_PAGE })),
    offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
  },
  { additionalProperties: false },
);

export const GalleryPage = Type.Object({
  enabled: Type.Boolean(),
  reason: Type.Union([Type.String(), Type.Null()], { description: "Why the gallery is off or its folder unusable." }),
  directory: Type.Union([Type.String(), Type.Null()]),
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
  images: Type.Array(GalleryImage, { description: "Newest first." }),
});
export type GalleryPage = Static<typeof GalleryPage>;

export const GalleryParams = Type.Object({ name: Type.String({ minLength: 1, maxLength: 255 }) });
export const DeleteImageResponse = Type.Object({ deleted: Type.String() });
