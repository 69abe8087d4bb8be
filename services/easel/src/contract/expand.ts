import { type Static, Type } from "typebox";
import { MAX_MODEL_NAME, MAX_SEED, MAX_VARIATIONS } from "./limits.js";

export const ExpandRequest = Type.Object(
  {
    prompt: Type.String({ description: "Not blank, at most 77,000 bytes of UTF-8." }),
    model: Type.Optional(
      Type.String({ maxLength: MAX_MODEL_NAME, description: "The image model the words are meant for." }),
    ),
    variations: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_VARIATIONS })),
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_SEED })),
  },
  { additionalProperties: false },
);
export type ExpandRequest = Static<typeof ExpandRequest>;

export const ExpandResponse = Type.Object({
  original: Type.String(),
  expanded: Type.Array(Type.String()),
  model: Type.String(),
});
export type ExpandResponse = Static<typeof ExpandResponse>;
