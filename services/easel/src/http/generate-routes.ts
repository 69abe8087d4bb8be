import { bytes, type ImplementedRoute, implement, type RouteRequest } from "@kit/http-kernel";
import { CONTENT_TYPES } from "../contract/generate.js";
import { routes } from "../contract/routes.js";
import type { GenerationResult } from "../generation/generation-result.js";
import type { Job } from "../generation/job-registry.js";
import { clientKeyOf } from "./client-key.js";
import type { EaselParts } from "./easel-parts.js";
import { packMultipart, packZip } from "./pack-images.js";
import { dataFormOf, streamJob } from "./stream-job.js";

type GenerateCall = RouteRequest<typeof routes.generate> | RouteRequest<typeof routes.generateStream>;

export function generateRoutes(parts: EaselParts): ImplementedRoute[] {
  const { studio, hasKeys } = parts;
  const admit = (request: GenerateCall) =>
    studio.admit(clientKeyOf(request, hasKeys), request.body, request.query, request.signal);

  return [
    implement(routes.generate, async (request) => {
      const job = await admit(request);
      cancelWithClient(parts, job, request.signal);
      const result = await studio.result(job);
      const headers = describeHeaders(job, result);
      if (result.images.length > 1 && request.wants("multipart/mixed")) {
        const packed = packMultipart(result);
        return bytes(packed.bytes, { contentType: packed.contentType, headers });
      }
      if (result.images.length > 1 && request.wants("application/zip")) {
        return bytes(packZip(result), { contentType: "application/zip", headers });
      }
      const [first, ...others] = result.images;
      const links = others.flatMap(({ name }) =>
        name === undefined ? [] : [`</api/gallery/${encodeURIComponent(name)}>; rel="item"`],
      );
      const linked = links.length > 0 ? { ...headers, link: links } : headers;
      return bytes(first!.bytes, { contentType: CONTENT_TYPES[first!.format], headers: linked });
    }),

    implement(routes.generateStream, async (request) => {
      const job = await admit(request);
      const form = dataFormOf(request.rawHeaders.accept);
      return request.eventStream(
        async (stream) => {
          cancelWithClient(parts, job, stream.signal);
          await streamJob(job, stream, { after: 0, form });
        },
        { headers: { "x-service-job-id": job.id }, onShutdown: "finish" },
      );
    }),
  ];
}

/** A client that leaves takes its job along, unless it said otherwise. */
function cancelWithClient({ studio }: EaselParts, job: Job, signal: AbortSignal): void {
  if (job.request.detached) return;
  const cancel = () => {
    if (!job.log.ended) studio.cancel(job.id);
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
}

function describeHeaders(job: Job, result: GenerationResult): Record<string, string | string[]> {
  return {
    "x-service-seed-used": String(result.seed),
    "x-service-model": result.model,
    "x-service-generation-ms": String(result.generationTimeMs),
    "x-service-image-count": String(result.images.length),
    "x-service-job-id": job.id,
    ...(result.warnings.length > 0 && { "x-service-warning": result.warnings.map(headerText) }),
    ...(result.expandedPrompt !== undefined && { "x-service-prompt": encodeURIComponent(result.expandedPrompt) }),
  };
}

/** Headers carry visible ASCII; anything else is percent-encoded. */
const headerText = (text: string) => text.replace(/[^\x20-\x7e]/gu, (character) => encodeURIComponent(character));
