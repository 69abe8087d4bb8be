/** The part of OpenAI's images API that existing clients use. Fields we cannot honour are accepted and ignored, as their servers do. */
import { type Static, Type } from "typebox";
import { MAX_BATCH, MAX_MODEL_NAME } from "./limits.js";

const nullable = (schema: ReturnType<typeof Type.String>) => Type.Optional(Type.Union([schema, Type.Null()]));

export const OpenAiImageRequest = Type.Object(
  {
    prompt: Type.String(),
    model: nullable(Type.String({ maxLength: MAX_MODEL_NAME })),
    n: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: MAX_BATCH }), Type.Null()])),
    size: nullable(Type.String({ description: "`auto` or `<width>x<height>`." })),
    response_format: nullable(Type.String({ description: "`b64_json` (default) or `url`." })),
    output_format: nullable(Type.String({ description: "`png` (default), `jpeg` or `webp`." })),
  },
  { additionalProperties: true },
);
export type OpenAiImageRequest = Static<typeof OpenAiImageRequest>;

export const OpenAiImageResponse = Type.Object({
  created: Type.Integer(),
  data: Type.Array(
    Type.Object({
      b64_json: Type.Optional(Type.String()),
      url: Type.Optional(Type.String()),
      revised_prompt: Type.Optional(Type.String()),
    }),
  ),
  output_format: Type.String(),
  size: Type.String(),
});
export type OpenAiImageResponse = Static<typeof OpenAiImageResponse>;

export const OpenAiModelList = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      object: Type.Literal("model"),
      created: Type.Integer(),
      owned_by: Type.String(),
    }),
  ),
});
