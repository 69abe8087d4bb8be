/** The events of one job, numbered, for as many readers as there are, each at its own pace and from any point. */
import type { GenerateProgress, StreamError } from "../contract/generate.js";
import type { GenerationResult } from "./generation-result.js";

type JobEvent =
  | { readonly event: "progress"; readonly data: GenerateProgress }
  | { readonly event: "complete"; readonly data: GenerationResult }
  | { readonly event: "error"; readonly data: StreamError };

type NumberedEvent = JobEvent & { readonly id: number };

/** Sixteen images of 150 steps with room for their stages. Older ones are dropped first. */
const MAX_EVENTS = 4_000;

export interface EventLog {
  add(event: JobEvent): void;
  /** From the one after `after` until the last; ends after `complete` or `error`, or when the signal aborts. */
  read(after: number, signal: AbortSignal): AsyncGenerator<NumberedEvent>;
  readonly ended: boolean;
}

export function createEventLog(): EventLog {
  let entries: NumberedEvent[] = [];
  let nextId = 1;
  let ended = false;
  const waiting = new Set<() => void>();

  return {
    get ended() {
      return ended;
    },
    add(event) {
      if (ended) return;
      // Only the newest preview is worth keeping.
      if (isPreview(event)) entries = entries.filter((entry) => !isPreview(entry));
      entries.push({ ...event, id: nextId++ });
      if (entries.length > MAX_EVENTS) entries.splice(0, entries.length - MAX_EVENTS);
      ended = event.event !== "progress";
      for (const wake of waiting) wake();
    },
    async *read(after, signal) {
      let seen = after;
      while (!signal.aborted) {
        const next = entries.find((entry) => entry.id > seen);
        if (next) {
          seen = next.id;
          yield next;
        } else if (ended) return;
        else await nextChange(waiting, signal);
      }
    },
  };
}

const isPreview = (event: JobEvent) => event.event === "progress" && event.data.type === "preview";

function nextChange(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      waiting.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    waiting.add(wake);
    signal.addEventListener("abort", wake);
  });
}
