/** Two pulls that want the same file get one download. It ends when the last of them has left. */
import { type DownloadOptions, downloadFile } from "./download-file.js";

type Order = Omit<DownloadOptions, "signal" | "onBytes">;

export interface SharedDownloads {
  fetch(order: Order, signal: AbortSignal, onBytes: (bytes: number) => void): Promise<void>;
}

interface Running {
  readonly listeners: Set<(bytes: number) => void>;
  readonly abort: AbortController;
  readonly done: Promise<void>;
  bytes: number;
}

export function createSharedDownloads(
  settings: Pick<DownloadOptions, "stallMs" | "retryDelayMs"> = {},
): SharedDownloads {
  const running = new Map<string, Running>();

  function start(order: Order): Running {
    const abort = new AbortController();
    const listeners = new Set<(bytes: number) => void>();
    const onBytes = (bytes: number) => {
      entry.bytes = bytes;
      for (const tell of listeners) tell(bytes);
    };
    const done = downloadFile({ ...settings, ...order, signal: abort.signal, onBytes }).finally(() => {
      running.delete(order.target);
    });
    const entry: Running = { listeners, abort, done, bytes: 0 };
    running.set(order.target, entry);
    return entry;
  }

  return {
    async fetch(order, signal, onBytes) {
      signal.throwIfAborted();
      const found = running.get(order.target);
      // One that is being given up still holds the partial file.
      if (found?.abort.signal.aborted) await found.done.catch(() => {});
      const entry = running.get(order.target) ?? start(order);
      entry.listeners.add(onBytes);
      if (entry.bytes > 0) onBytes(entry.bytes);
      let leave!: () => void;
      const left = new Promise<never>((_, reject) => {
        leave = () => reject(signal.reason);
        signal.addEventListener("abort", leave, { once: true });
      });
      try {
        await Promise.race([entry.done, left]);
      } finally {
        signal.removeEventListener("abort", leave);
        entry.listeners.delete(onBytes);
        if (entry.listeners.size === 0) {
          entry.abort.abort();
          entry.done.catch(() => {});
        }
      }
    },
  };
}
