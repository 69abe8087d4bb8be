/** Everything about a request that can be wrong is found here, before it takes its place in the line. */
import { randomInt } from "node:crypto";
import { errors } from "../contract/errors.js";
import type { GenerateQuery, GenerateRequest } from "../contract/generate.js";
import * as limits from "../contract/limits.js";
import { type Engine, EngineError } from "../engine/engine-api.js";
import type { KnownModel } from "../models/known-model.js";
import type { ModelStore } from "../models/model-store.js";
import { decodeImage, decodeMask, type InputFile, openInput } from "./decode-input.js";
import { type AdapterFolders, resolveAdapter } from "./resolve-adapter.js";
import type { SettledAdapter, SettledRequest } from "./settled-request.js";

export interface ResolveContext {
  readonly models: ModelStore;
  readonly engine: Pick<Engine, "checkAdapter">;
  readonly adapters: AdapterFolders;
}

export async function resolveRequest(
  request: GenerateRequest,
  query: GenerateQuery,
  context: ResolveContext,
): Promise<SettledRequest> {
  checkPrompt("prompt", request.prompt);
  checkPrompt("negative_prompt", request.negative_prompt ?? "");
  const model = await context.models.resolveUsable(request.model);
  const batch = request.batch ?? 1;
  const seed = request.seed ?? randomInt(limits.MAX_RANDOM_SEED + 1);
  if (seed > limits.MAX_SEED - (batch - 1)) {
    throw errors.VALIDATION_ERROR(
      `Field 'seed' is ${seed}: with batch ${batch} it must be at most ${limits.MAX_SEED - batch + 1}.`,
    );
  }
  if (request.mask !== undefined && request.image === undefined) {
    throw errors.VALIDATION_ERROR("Field 'mask' needs field 'image': it says which part of the image is repainted.");
  }
  const image = request.image === undefined ? undefined : await openInput("image", request.image);
  const mask = request.mask === undefined ? undefined : await openInput("mask", request.mask);
  const { width, height } = chooseSize(request, model, image);
  const adapter = await settleAdapter(request, model, context);
  return {
    model: model.name,
    prompt: request.prompt,
    negativePrompt: request.negative_prompt ?? "",
    width,
    height,
    steps: request.steps ?? model.defaults.steps,
    guidance: request.guidance ?? model.defaults.guidance,
    seed,
    batch,
    ...(image && { image: await decodeImage(image, width, height) }),
    ...(image && { strength: request.strength ?? limits.DEFAULT_STRENGTH }),
    ...(mask && { mask: await decodeMask(mask, width, height) }),
    ...(adapter && { adapter }),
    expand: request.expand ?? false,
    outputFormat: request.output_format ?? "png",
    preview: query.preview ?? false,
    detached: query.detach ?? false,
    warnings: findIdleFields(request),
  };
}

/** For every field that holds words to be drawn. */
export function checkPrompt(field: string, text: string): void {
  if (field === "prompt" && text.trim() === "") {
    throw errors.VALIDATION_ERROR(`Field 'prompt' is '${text.slice(0, 20)}': it must not be blank.`);
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.MAX_PROMPT_BYTES) {
    throw errors.VALIDATION_ERROR(
      `Field '${field}' has ${bytes} bytes of UTF-8: it must have at most ${limits.MAX_PROMPT_BYTES}.`,
    );
  }
}

/** An input image without a size keeps its shape, at the area the model draws well. */
function chooseSize(request: GenerateRequest, { defaults }: KnownModel, image: InputFile | undefined) {
  const fitted =
    image && request.width === undefined && request.height === undefined
      ? fitToArea(image.width / image.height, defaults.width * defaults.height)
      : defaults;
  const { width = fitted.width, height = fitted.height } = request;
  if (width * height > limits.MAX_AREA) {
    throw errors.VALIDATION_ERROR(
      `Fields 'width' and 'height' are ${width} and ${height}, ${width * height} pixels: together they must make at most ${limits.MAX_AREA}.`,
    );
  }
  return { width, height };
}

function fitToArea(ratio: number, area: number): { width: number; height: number } {
  const snap = (side: number) =>
    Math.min(
      limits.MAX_SIDE,
      Math.max(limits.MIN_SIDE, Math.round(side / limits.SIDE_MULTIPLE) * limits.SIDE_MULTIPLE),
    );
  const width = Math.sqrt(area * ratio);
  return { width: snap(width), height: snap(width / ratio) };
}

async function settleAdapter(
  request: GenerateRequest,
  model: KnownModel,
  { engine, adapters }: ResolveContext,
): Promise<SettledAdapter | undefined> {
  if (request.lora === undefined) return undefined;
  const path = await resolveAdapter(request.lora, adapters);
  try {
    await engine.checkAdapter(model.files, path);
  } catch (error) {
    if (error instanceof EngineError)
      throw errors.VALIDATION_ERROR(`Field 'lora' is '${request.lora}': ${error.message}`);
    throw error;
  }
  return { asked: request.lora, path, scale: request.lora_scale ?? limits.DEFAULT_ADAPTER_SCALE };
}

/** Fields that do nothing in this request are no error, but the client is told. */
function findIdleFields(request: GenerateRequest): string[] {
  const warnings: string[] = [];
  if (request.strength !== undefined && request.image === undefined) {
    warnings.push("strength has no effect without image");
  }
  if (request.lora_scale !== undefined && request.lora === undefined) {
    warnings.push("lora_scale has no effect without lora");
  }
  return warnings;
}
