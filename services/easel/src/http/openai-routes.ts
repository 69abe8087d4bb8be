import { type ImplementedRoute, implement } from "@kit/http-kernel";
import { errors } from "../contract/errors.js";
import type { GenerateRequest, OutputFormat } from "../contract/generate.js";
import * as limits from "../contract/limits.js";
import type { OpenAiImageRequest } from "../contract/openai.js";
import { routes } from "../contract/routes.js";
import { clientKeyOf } from "./client-key.js";
import type { EaselParts } from "./easel-parts.js";

/** Names that clients send by default and that can only mean "whatever you have". */
const FOREIGN_MODELS = /^(dall-e|gpt-image|chatgpt-image)/;
const FORMATS: readonly string[] = ["png", "jpeg", "webp"];

export function openAiRoutes({ studio, models, hasKeys, gallery }: EaselParts): ImplementedRoute[] {
  return [
    implement(routes.openAiGenerate, async (request) => {
      const { body } = request;
      const wantsUrl = body.response_format === "url";
      if (wantsUrl && gallery.directory === undefined) {
        throw errors.VALIDATION_ERROR(
          "Field 'response_format' is 'url' but pictures are not saved here: it must be 'b64_json'.",
        );
      }
      const job = await studio.admit(clientKeyOf(request, hasKeys), translate(body), {}, request.signal);
      request.signal.addEventListener("abort", () => studio.cancel(job.id), { once: true });
      const result = await studio.result(job);
      const base = `http://${request.rawHeaders.host ?? "localhost"}/api/gallery/`;
      return {
        created: Math.floor(Date.now() / 1_000),
        data: result.images.map((image) =>
          wantsUrl && image.name !== undefined
            ? { url: base + encodeURIComponent(image.name) }
            : { b64_json: image.bytes.toString("base64") },
        ),
        output_format: job.request.outputFormat,
        size: `${job.request.width}x${job.request.height}`,
      };
    }),

    implement(routes.openAiModels, async () => {
      const usable = (await models.list()).filter((model) => model.downloaded && model.kind === "image");
      return {
        object: "list" as const,
        data: usable.map(({ name, source }) => ({ id: name, object: "model" as const, created: 0, owned_by: source })),
      };
    }),
  ];
}

function translate(body: OpenAiImageRequest): GenerateRequest {
  const format = body.output_format ?? "png";
  if (!FORMATS.includes(format)) {
    throw errors.VALIDATION_ERROR(`Field 'output_format' is '${format}': it must be one of 'png', 'jpeg', 'webp'.`);
  }
  if (![undefined, null, "url", "b64_json"].includes(body.response_format)) {
    throw errors.VALIDATION_ERROR(
      `Field 'response_format' is '${body.response_format}': it must be 'b64_json' or 'url'.`,
    );
  }
  const model = body.model && !FOREIGN_MODELS.test(body.model) ? body.model : undefined;
  return {
    prompt: body.prompt,
    ...(model !== undefined && { model }),
    ...(typeof body.n === "number" && { batch: body.n }),
    ...parseSize(body.size),
    output_format: format as OutputFormat,
  };
}

function parseSize(size: string | null | undefined): { width?: number; height?: number } {
  if (size === undefined || size === null || size === "auto") return {};
  const [, width, height] = /^(\d{2,4})x(\d{2,4})$/.exec(size) ?? [];
  const sides = [Number(width), Number(height)];
  const { MIN_SIDE, MAX_SIDE, SIDE_MULTIPLE } = limits;
  if (!sides.every((side) => side >= MIN_SIDE && side <= MAX_SIDE && side % SIDE_MULTIPLE === 0)) {
    throw errors.VALIDATION_ERROR(
      `Field 'size' is '${size}': it must be 'auto' or '<width>x<height>' with sides from ${MIN_SIDE} to ${MAX_SIDE}, multiples of ${SIDE_MULTIPLE}.`,
    );
  }
  return { width: sides[0]!, height: sides[1]! };
}
