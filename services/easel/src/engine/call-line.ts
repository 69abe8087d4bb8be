/** Calls that need the engine's one worker, in the order they came. A waiting call can be cancelled; the running one ends itself. */
import { EngineError } from "./engine-api.js";

export interface CallLine {
  /** runs `work` when all earlier calls have ended; rejects with CANCELLED if `signal` fires before that */
  enter<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** rejects all waiting calls and every later one */
  close(): void;
  readonly isBusy: boolean;
}

interface Waiting {
  start(): Promise<unknown>;
  refuse(message: string): void;
}

export function createCallLine(): CallLine {
  const waiting: Waiting[] = [];
  let isRunning = false;
  /** false already when a call's result is delivered, before the next one starts */
  let isWorking = false;
  let isClosed = false;

  const runNext = async () => {
    if (isRunning) return;
    isRunning = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) await next.start();
    isRunning = false;
  };

  return {
    get isBusy() {
      return isWorking || waiting.length > 0;
    },
    enter(work, signal) {
      return new Promise((resolve, reject) => {
        const refuse = (message: string) => reject(new EngineError("CANCELLED", message));
        if (isClosed) return refuse("the engine is closed");
        if (signal?.aborted) return refuse("the job was cancelled");
        const leave = () => {
          waiting.splice(waiting.indexOf(entry), 1);
          refuse("the job was cancelled");
        };
        const entry: Waiting = {
          refuse,
          start: () => {
            signal?.removeEventListener("abort", leave);
            isWorking = true;
            return work()
              .finally(() => {
                isWorking = false;
              })
              .then(resolve, reject);
          },
        };
        signal?.addEventListener("abort", leave, { once: true });
        waiting.push(entry);
        void runNext();
      });
    },
    close() {
      isClosed = true;
      for (const entry of waiting.splice(0)) entry.refuse("the engine is closed");
    },
  };
}
