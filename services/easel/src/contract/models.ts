import { type Static, Type } from "typebox";
import { MAX_MODEL_NAME } from "./limits.js";

export const ModelDefaults = Type.Object({
  width: Type.Integer(),
  height: Type.Integer(),
  steps: Type.Integer(),
  guidance: Type.Number(),
});
export type ModelDefaults = Static<typeof ModelDefaults>;

export const ModelRow = Type.Object({
  name: Type.String({ description: "Canonical `<name>:<variant>`." }),
  family: Type.String(),
  description: Type.String(),
  size_bytes: Type.Integer({ description: "On disk when downloaded, else what a pull takes; 0 if unknown." }),
  downloaded: Type.Boolean(),
  loaded: Type.Boolean(),
  default: Type.Boolean(),
  defaults: ModelDefaults,
  source: Type.String({ description: "`builtin`, `local`, or the hub repository." }),
  license: Type.String(),
});
export type ModelRow = Static<typeof ModelRow>;

/** Models of this family write words, for prompt expansion; they cannot draw. */
export const LANGUAGE_FAMILY = "language";

const ModelFileRow = Type.Object({
  path: Type.String(),
  size_bytes: Type.Union([Type.Integer(), Type.Null()]),
  sha256: Type.Union([Type.String(), Type.Null()]),
});

/** One model with what a form needs to offer sensible choices. */
export const ModelDetails = Type.Interface([ModelRow], {
  path: Type.Union([Type.String(), Type.Null()], { description: "Where its files lie on the server." }),
  recommended_sizes: Type.Array(Type.Object({ width: Type.Integer(), height: Type.Integer() })),
  negative_prompt: Type.Boolean({ description: "Whether a negative prompt has an effect at the default guidance." }),
  files: Type.Array(ModelFileRow),
});
export type ModelDetails = Static<typeof ModelDetails>;

export const ModelRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: MAX_MODEL_NAME, description: "`<name>:<variant>` or a bare name." }),
  },
  { additionalProperties: false },
);
export type ModelRequest = Static<typeof ModelRequest>;

export const ModelsQuery = Type.Object({
  all: Type.Optional(Type.Boolean({ description: "Also autoencoders and language models, which draw nothing." })),
});

export const ModelParams = Type.Object({ name: Type.String({ minLength: 1, maxLength: MAX_MODEL_NAME }) });

export const LoadResponse = Type.Object({ model: Type.String(), load_time_ms: Type.Integer({ minimum: 0 }) });
export type LoadResponse = Static<typeof LoadResponse>;

export const UnloadResponse = Type.Object({ unloaded: Type.Array(Type.String()) });
export type UnloadResponse = Static<typeof UnloadResponse>;

export const RemoveModelResponse = Type.Object({ removed: Type.String(), freed_bytes: Type.Integer() });
export type RemoveModelResponse = Static<typeof RemoveModelResponse>;

/** Data of `event: progress` while a model is pulled. */
export const PullProgress = Type.Union([
  Type.Object({
    type: Type.Literal("download_progress"),
    filename: Type.String(),
    file_index: Type.Integer({ minimum: 1 }),
    total_files: Type.Integer({ minimum: 1 }),
    bytes_downloaded: Type.Integer({ minimum: 0 }),
    bytes_total: Type.Integer({ minimum: 0 }),
  }),
  Type.Object({ type: Type.Literal("pull_complete"), model: Type.String() }),
]);
export type PullProgress = Static<typeof PullProgress>;

export const AdapterList = Type.Object({
  directory: Type.String(),
  adapters: Type.Array(
    Type.Object({ path: Type.String({ description: "What to put into `lora`." }), size_bytes: Type.Integer() }),
  ),
});
export type AdapterList = Static<typeof AdapterList>;

export const pullSentence = (model: string) => `model '${model}' pulled successfully`;
