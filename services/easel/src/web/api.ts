/** Every call the page makes. Types come from the contract; only types are imported, so none of the schemas reach the bundle. */
import { readEvents } from "@kit/http-kernel/contract";
import type { ExpandResponse } from "../contract/expand.js";
import type { GalleryPage } from "../contract/gallery.js";
import type { GenerateProgress, GenerateRequest, GenerateResponse } from "../contract/generate.js";
import type { JobRow } from "../contract/jobs.js";
import type { AdapterList, ModelDetails, ModelRow, PullProgress } from "../contract/models.js";

export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const KEY = "easel.api-key";
export const apiKey = (): string => localStorage.getItem(KEY) ?? "";
export const setApiKey = (key: string): void =>
  key === "" ? localStorage.removeItem(KEY) : localStorage.setItem(KEY, key);

/** The page may be served below a path by a proxy: every address is relative to it. */
export const address = (path: string): string => new URL(`.${path}`, document.baseURI.replace(/#.*/, "")).href;

export async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const key = apiKey();
  if (key !== "") headers.set("x-api-key", key);
  let response: Response;
  try {
    response = await fetch(address(path), { ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiFailure(0, "UNREACHABLE", "The server does not answer. Is it running?");
  }
  if (response.ok) return response;
  const answer = (await response.json().catch(() => ({}))) as { code?: string; message?: string };
  throw new ApiFailure(
    response.status,
    answer.code ?? "ERROR",
    answer.message ?? `The server answered ${response.status}.`,
  );
}

const json = async <T>(path: string, init?: RequestInit): Promise<T> => (await call(path, init)).json() as Promise<T>;
const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

export const listModels = (): Promise<ModelRow[]> => json("/api/models");
export const describeModel = (name: string): Promise<ModelDetails> => json(`/api/models/${encodeURIComponent(name)}`);
export const removeModel = (name: string): Promise<unknown> =>
  json(`/api/models/${encodeURIComponent(name)}`, { method: "DELETE" });
export const loadModel = (model: string): Promise<unknown> => json("/api/models/load", post({ model }));
export const unloadModels = (): Promise<unknown> => json("/api/models/unload", { method: "DELETE" });
export const listAdapters = (): Promise<AdapterList> => json("/api/adapters");
export const listJobs = async (): Promise<JobRow[]> => (await json<{ jobs: JobRow[] }>("/api/jobs")).jobs;
export const cancelJob = (id: string): Promise<unknown> =>
  json(`/api/jobs/${encodeURIComponent(id)}`, { method: "DELETE" });
export const listGallery = (offset: number, limit: number): Promise<GalleryPage> =>
  json(`/api/gallery?limit=${limit}&offset=${offset}`);
export const deleteImage = (name: string): Promise<unknown> =>
  json(`/api/gallery/${encodeURIComponent(name)}`, { method: "DELETE" });
export const expandPrompt = (prompt: string, model: string, signal: AbortSignal): Promise<ExpandResponse> =>
  json("/api/expand", { ...post({ prompt, model, variations: 3 }), signal });

export interface GenerateStream {
  readonly jobId: string;
  readonly result: Promise<GenerateResponse>;
}

/** Starts a picture. Resolves when the server has taken the job; `result` when it is drawn. */
export async function generate(
  request: GenerateRequest,
  onProgress: (progress: GenerateProgress) => void,
  signal: AbortSignal,
): Promise<GenerateStream> {
  const init = post(request, { accept: "text/event-stream;data=base64" });
  const response = await call("/api/generate/stream?preview=true", { ...init, signal });
  const finish = async (): Promise<GenerateResponse> => {
    for await (const event of readEvents(response)) {
      if (event.event === "progress") onProgress(JSON.parse(event.data) as GenerateProgress);
      else if (event.event === "complete") return JSON.parse(event.data) as GenerateResponse;
      else if (event.event === "error") throw failureOf(JSON.parse(event.data));
    }
    throw new ApiFailure(0, "UNREACHABLE", "The connection ended before the picture was done.");
  };
  return { jobId: response.headers.get("x-service-job-id") ?? "", result: finish() };
}

export async function pullModel(
  model: string,
  onProgress: (progress: PullProgress) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await call("/api/models/pull", { ...post({ model }, { accept: "text/event-stream" }), signal });
  for await (const event of readEvents(response)) {
    if (event.event === "error") throw failureOf(JSON.parse(event.data));
    const progress = JSON.parse(event.data) as PullProgress;
    onProgress(progress);
    if (progress.type === "pull_complete") return;
  }
  throw new ApiFailure(0, "UNREACHABLE", "The connection ended before the model was there.");
}

function failureOf(data: unknown): ApiFailure {
  const { code, message } = data as { code: string; message: string };
  return new ApiFailure(0, code, message);
}
