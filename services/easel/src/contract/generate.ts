/** What a client sends to have a picture made, and everything it hears while that happens. */
import { type Static, Type } from "typebox";
import * as limits from "./limits.js";

export const OutputFormat = Type.Enum(["png", "jpeg", "webp"], { description: "Encoding of the pictures." });
export type OutputFormat = Static<typeof OutputFormat>;

export const CONTENT_TYPES: Readonly<Record<OutputFormat, string>> = {
  png: "image/png",
  jpeg: "image/jpeg",
  webp: "image/webp",
};

const side = { minimum: limits.MIN_SIDE, maximum: limits.MAX_SIDE, multipleOf: limits.SIDE_MULTIPLE };
const base64Image =
  "Base64 (standard or URL alphabet, padding optional, `data:` prefix allowed) of a PNG, JPEG or WebP.";

export const GenerateRequest = Type.Object(
  {
    prompt: Type.String({ description: "What to draw. Not blank, at most 77,000 bytes of UTF-8." }),
    model: Type.Optional(
      Type.String({ maxLength: limits.MAX_MODEL_NAME, description: "`<name>:<variant>` or a bare name." }),
    ),
    width: Type.Optional(Type.Integer({ ...side, description: "Pixels. The model's own size unless given." })),
    height: Type.Optional(Type.Integer({ ...side, description: "Pixels. The model's own size unless given." })),
    steps: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.MAX_STEPS, description: "Denoising steps." })),
    seed: Type.Optional(
      Type.Integer({ minimum: 0, maximum: limits.MAX_SEED, description: "Image i of a batch uses seed + i." }),
    ),
    guidance: Type.Optional(Type.Number({ minimum: 0, maximum: limits.MAX_GUIDANCE })),
    batch: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.MAX_BATCH, description: "Number of images." })),
    negative_prompt: Type.Optional(Type.String({ description: "What to keep away from." })),
    image: Type.Optional(Type.String({ description: `Picture to start from. ${base64Image}` })),
    strength: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: "With `image`: 0 keeps it, 1 ignores it. Default 0.75." }),
    ),
    mask: Type.Optional(
      Type.String({ description: `With \`image\`: white is repainted, black is kept. ${base64Image}` }),
    ),
    lora: Type.Optional(
      Type.String({
        maxLength: limits.MAX_PATH,
        description: "Adapter file (.safetensors) under the adapters folder.",
      }),
    ),
    lora_scale: Type.Optional(Type.Number({ minimum: -limits.MAX_ADAPTER_SCALE, maximum: limits.MAX_ADAPTER_SCALE })),
    expand: Type.Optional(Type.Boolean({ description: "Expand the prompt by a language model first." })),
    output_format: Type.Optional(OutputFormat),
  },
  { additionalProperties: false, description: "Only `prompt` is required; the model supplies the other defaults." },
);
export type GenerateRequest = Static<typeof GenerateRequest>;

export const GenerateQuery = Type.Object(
  {
    detach: Type.Optional(Type.Boolean({ description: "The job goes on when the client leaves." })),
    preview: Type.Optional(Type.Boolean({ description: "Send small previews while denoising." })),
  },
  { additionalProperties: false },
);
export type GenerateQuery = Static<typeof GenerateQuery>;

const GeneratedImage = Type.Object({
  data: Type.Union([Type.Array(Type.Integer({ minimum: 0, maximum: 255 })), Type.String()], {
    description: "Bytes of the encoded picture; a base64 string with `Accept: text/event-stream;data=base64`.",
  }),
  format: OutputFormat,
  width: Type.Integer(),
  height: Type.Integer(),
  index: Type.Integer({ description: "Position in the batch, from 0." }),
});

export const GenerateResponse = Type.Object({
  images: Type.Array(GeneratedImage),
  generation_time_ms: Type.Integer({ description: "Without the time spent waiting." }),
  model: Type.String(),
  seed_used: Type.Integer(),
  original_prompt: Type.Optional(Type.String({ description: "Only with `expand`: what was asked." })),
  expanded_prompt: Type.Optional(Type.String({ description: "Only with `expand`: what was drawn." })),
});
export type GenerateResponse = Static<typeof GenerateResponse>;

const milliseconds = Type.Integer({ minimum: 0 });

/** Data of `event: progress` while a picture is made. */
export const GenerateProgress = Type.Union([
  Type.Object({ type: Type.Literal("queued"), position: Type.Integer({ minimum: 0 }) }),
  Type.Object({ type: Type.Literal("stage_start"), name: Type.String() }),
  Type.Object({ type: Type.Literal("stage_done"), name: Type.String(), elapsed_ms: milliseconds }),
  Type.Object({
    type: Type.Literal("weight_load"),
    component: Type.String(),
    bytes_loaded: Type.Integer(),
    bytes_total: Type.Integer(),
  }),
  Type.Object({
    type: Type.Literal("denoise_step"),
    step: Type.Integer({ minimum: 1 }),
    total: Type.Integer({ minimum: 1 }),
    elapsed_ms: milliseconds,
  }),
  Type.Object({
    type: Type.Literal("preview"),
    step: Type.Integer(),
    image: Type.String({ description: "JPEG, base64" }),
  }),
  Type.Object({ type: Type.Literal("info"), message: Type.String() }),
]);
export type GenerateProgress = Static<typeof GenerateProgress>;

/** Data of `event: error`, the last event of a stream that failed after it began. */
export const StreamError = Type.Object({ code: Type.String(), message: Type.String() });
export type StreamError = Static<typeof StreamError>;
