import { createClient } from "@kit/http-kernel/contract";
import { CONTENT_TYPES, type GenerateRequest, type GenerateResponse } from "../contract/generate.js";
import { routes } from "../contract/routes.js";
import type { DrawnPictures, EaselClient, GenerateOptions } from "./easel-client.js";

export interface EaselClientOptions {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
}

/** Pictures come as base64 rather than as arrays of integers: a quarter of the bytes, and no work for either side. */
const BASE64_EVENTS = { accept: "text/event-stream;data=base64" };

export function createEaselClient(options: EaselClientOptions): EaselClient {
  const api = createClient(routes, options);
  return {
    baseUrl: options.baseUrl,
    status: (signal) => api.status({ signal }),
    listModels: (signal) => api.listModels({ signal }),
    describeModel: (name) => api.getModel({ params: { name } }),
    loadModel: (model, signal) => api.loadModel({ body: { model }, signal }),
    unloadModels: async () => (await api.unloadModel()).unloaded,
    removeModel: (name) => api.removeModel({ params: { name } }),
    pullModel: async (model, { onProgress, signal }) => {
      for await (const event of api.pullModel.events({ body: { model }, signal }))
        if (event.event === "progress") onProgress(event.data);
    },
    listAdapters: () => api.listAdapters(),
    generate: (request, generateOptions) => generate(api, request, generateOptions),
    expand: (body, signal) => api.expand({ body, signal }),
    listJobs: async (signal) => (await api.listJobs({ signal })).jobs,
    cancelJob: (id) => api.cancelJob({ params: { id } }),
    listGallery: (query) => api.listGallery({ query }),
    fetchImage: async (name) =>
      (await api.getImage({ params: { name }, headers: { accept: Object.values(CONTENT_TYPES).join(", ") } })).bytes,
    fetchThumbnail: async (name) => (await api.getThumbnail({ params: { name } })).bytes,
    deleteImage: async (name) => {
      await api.deleteImage({ params: { name } });
    },
  };
}

type Api = ReturnType<typeof createClient<typeof routes>>;

/** Follows a job by its stream. Aborting closes the stream, and a client that leaves cancels its job: nothing goes on unseen. */
async function generate(
  api: Api,
  body: GenerateRequest,
  { onProgress, signal, preview }: GenerateOptions,
): Promise<DrawnPictures> {
  const query = preview ? { preview: true } : {};
  for await (const event of api.generateStream.events({ body, query, headers: BASE64_EVENTS, signal })) {
    if (event.event === "progress") onProgress?.(event.data);
    else if (event.event === "complete") return drawnPictures(event.data);
  }
  throw new Error("the server ended the stream before the picture was done");
}

function drawnPictures(response: GenerateResponse): DrawnPictures {
  return {
    images: response.images.map(({ data, ...rest }) => ({
      ...rest,
      bytes: typeof data === "string" ? Buffer.from(data, "base64") : Uint8Array.from(data),
    })),
    generationTimeMs: response.generation_time_ms,
    model: response.model,
    seedUsed: response.seed_used,
    expandedPrompt: response.expanded_prompt,
  };
}
