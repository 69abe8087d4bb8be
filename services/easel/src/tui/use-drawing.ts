import { useCallback, useRef, useState } from "react";
import type { DrawnPictures, EaselClient } from "../client/easel-client.js";
import type { GenerateProgress, GenerateRequest } from "../contract/generate.js";

export interface Drawing {
  readonly state: "idle" | "working" | "done" | "failed" | "cancelled";
  readonly stage: string;
  readonly step: number;
  readonly total: number;
  readonly msPerStep: number | undefined;
  /** preview while working, the picture when done */
  readonly picture: Uint8Array | undefined;
  readonly drawn: DrawnPictures | undefined;
  readonly message: string | undefined;
}

const idle: Drawing = {
  state: "idle",
  stage: "",
  step: 0,
  total: 0,
  msPerStep: undefined,
  picture: undefined,
  drawn: undefined,
  message: undefined,
};

export interface DrawingControl {
  readonly drawing: Drawing;
  readonly start: (request: GenerateRequest) => void;
  readonly cancel: () => void;
}

/** One picture at a time from this UI; it goes on while other views are open. */
export function useDrawing(client: EaselClient): DrawingControl {
  const [drawing, setDrawing] = useState<Drawing>(idle);
  const running = useRef<AbortController>(undefined);
  const start = useCallback(
    (request: GenerateRequest) => {
      if (running.current) return;
      const stop = new AbortController();
      running.current = stop;
      setDrawing({ ...idle, state: "working", stage: "sending" });
      const onProgress = (progress: GenerateProgress): void => setDrawing((now) => advance(now, progress));
      client
        .generate(request, { onProgress, signal: stop.signal, preview: true })
        .then(
          (drawn) => setDrawing((now) => ({ ...now, state: "done", drawn, picture: drawn.images[0]?.bytes })),
          (error: Error) =>
            setDrawing((now) => ({
              ...now,
              state: stop.signal.aborted ? "cancelled" : "failed",
              message: stop.signal.aborted ? undefined : error.message,
            })),
        )
        .finally(() => {
          running.current = undefined;
        });
    },
    [client],
  );
  const cancel = useCallback(() => running.current?.abort(), []);
  return { drawing, start, cancel };
}

function advance(now: Drawing, progress: GenerateProgress): Drawing {
  switch (progress.type) {
    case "queued":
      return { ...now, stage: progress.position > 0 ? `waiting, ${progress.position} ahead` : "starting" };
    case "stage_start":
      return { ...now, stage: progress.name };
    case "weight_load":
      return { ...now, stage: `loading ${progress.component}` };
    case "denoise_step":
      return {
        ...now,
        stage: "drawing",
        step: progress.step,
        total: progress.total,
        msPerStep: progress.elapsed_ms / progress.step,
      };
    case "preview":
      return { ...now, picture: Buffer.from(progress.image, "base64") };
    case "info":
      return { ...now, message: progress.message };
    default:
      return now;
  }
}
