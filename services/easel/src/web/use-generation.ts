import { useCallback, useRef, useState } from "preact/hooks";
import type { GenerateProgress, GenerateRequest, GenerateResponse } from "../contract/generate.js";
import { ApiFailure, cancelJob, generate } from "./api.js";

export interface Drawing {
  readonly state: "idle" | "working" | "done" | "failed" | "cancelled";
  /** what is going on, for people */
  readonly stage: string;
  readonly position: number | undefined;
  readonly step: number;
  readonly total: number;
  readonly msPerStep: number | undefined;
  readonly preview: string | undefined;
  readonly error: string | undefined;
  readonly notes: readonly string[];
  readonly response: GenerateResponse | undefined;
  /** the picture it started from, for the before/after slider */
  readonly before: string | undefined;
  readonly request: GenerateRequest | undefined;
}

const idle: Drawing = {
  state: "idle",
  stage: "",
  position: undefined,
  step: 0,
  total: 0,
  msPerStep: undefined,
  preview: undefined,
  error: undefined,
  notes: [],
  response: undefined,
  before: undefined,
  request: undefined,
};

export interface Generation {
  readonly drawing: Drawing;
  readonly start: (request: GenerateRequest) => void;
  readonly cancel: () => void;
}

/** One picture at a time from this page; it goes on while other views are open. */
export function useGeneration(onDone: () => void): Generation {
  const [drawing, setDrawing] = useState<Drawing>(idle);
  const running = useRef<{ stop: AbortController; jobId: string } | undefined>(undefined);

  const start = useCallback(
    async (request: GenerateRequest) => {
      if (running.current) return;
      const job = { stop: new AbortController(), jobId: "" };
      running.current = job;
      setDrawing({ ...idle, state: "working", stage: "Sending", before: request.image, request });
      try {
        const stream = await generate(
          request,
          (progress) => setDrawing((now) => advance(now, progress)),
          job.stop.signal,
        );
        job.jobId = stream.jobId;
        const response = await stream.result;
        setDrawing((now) => ({ ...now, state: "done", response, preview: undefined }));
        onDone();
      } catch (error) {
        const cancelled = job.stop.signal.aborted || (error instanceof ApiFailure && error.code === "CANCELLED");
        setDrawing((now) => ({
          ...now,
          state: cancelled ? "cancelled" : "failed",
          error: cancelled ? undefined : (error as Error).message,
        }));
      } finally {
        running.current = undefined;
      }
    },
    [onDone],
  );

  const cancel = useCallback(() => {
    const job = running.current;
    if (!job) return;
    // Leaving cancels too; asking by id as well lets the server say so to whoever watches the queue.
    if (job.jobId !== "") cancelJob(job.jobId).catch(() => {});
    job.stop.abort();
  }, []);

  return { drawing, start, cancel };
}

function advance(now: Drawing, progress: GenerateProgress): Drawing {
  switch (progress.type) {
    case "queued":
      return { ...now, position: progress.position, stage: progress.position === 0 ? "Starting" : "Waiting" };
    case "stage_start":
      return { ...now, position: undefined, stage: sentenceCase(progress.name) };
    case "weight_load":
      return { ...now, stage: `Loading ${progress.component}` };
    case "denoise_step":
      return {
        ...now,
        stage: "Drawing",
        step: progress.step,
        total: progress.total,
        msPerStep: progress.elapsed_ms / progress.step,
      };
    case "preview":
      return { ...now, preview: `data:image/jpeg;base64,${progress.image}` };
    case "info":
      return { ...now, notes: [...now.notes, progress.message] };
    default:
      return now;
  }
}

const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
