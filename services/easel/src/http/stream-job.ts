/** A job's events as the API sends them, for the request that made it and for readers that come later. */
import type { EventStreamWriter } from "@kit/http-kernel";
import type { GenerateProgress, GenerateResponse, StreamError } from "../contract/generate.js";
import type { GenerationResult } from "../generation/generation-result.js";
import type { Job } from "../generation/job-registry.js";

export interface JobEvents {
  readonly progress: GenerateProgress;
  readonly complete: GenerateResponse;
  readonly error: StreamError;
}

export type DataForm = "integers" | "base64";

/** `Accept: text/event-stream;data=base64` asks for strings instead of integers. */
export function dataFormOf(accept: string | undefined): DataForm {
  const parameters = (accept ?? "").split(/[;,]/).map((part) => part.trim().toLowerCase());
  return parameters.includes("data=base64") ? "base64" : "integers";
}

export async function streamJob(
  job: Job,
  stream: EventStreamWriter<JobEvents>,
  { after, form }: { readonly after: number; readonly form: DataForm },
): Promise<void> {
  for await (const entry of job.log.read(after, stream.signal)) {
    const { id } = entry;
    if (entry.event === "complete") await stream.sendLarge("complete", describeResult(entry.data, form), { id });
    else if (entry.event === "error") await stream.send("error", entry.data, { id });
    else await stream.send("progress", entry.data, { id });
  }
}

function describeResult(result: GenerationResult, form: DataForm) {
  return {
    images: result.images.map(({ bytes, format, width, height, index }) => ({
      data: form === "base64" ? bytes.toString("base64") : bytes,
      format,
      width,
      height,
      index,
    })),
    generation_time_ms: result.generationTimeMs,
    model: result.model,
    seed_used: result.seed,
    ...(result.originalPrompt !== undefined && { original_prompt: result.originalPrompt }),
    ...(result.expandedPrompt !== undefined && { expanded_prompt: result.expandedPrompt }),
  };
}
