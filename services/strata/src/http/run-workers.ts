import cluster, { type Worker } from "node:cluster";
import type { Logger } from "@kit/http-kernel";

/**
 * Several processes on one port, for machines with several cores. Each is this program with the same words; the primary
 * process only hands out connections, starts a new worker for one that died, and passes signals on.
 */

export interface WorkerOptions {
  readonly count: number;
  readonly log: Logger;
  /** Called once, when every worker listens. */
  readonly onListening: (url: string) => void;
}

/** A worker that dies this soon would die again: the start has failed. */
const START_MS = 2000;
const FAILED = 1;

/** Resolves with the exit code after SIGTERM or SIGINT, or when the start failed. */
export function runWorkers(options: WorkerOptions): Promise<number> {
  return new Promise((resolve) => {
    let listening = 0;
    let stopping = false;
    const started = new Map<Worker, number>();
    const startWorker = () => started.set(cluster.fork(), performance.now());
    const stop = (signal: NodeJS.Signals) => {
      stopping = true;
      for (const worker of started.keys()) worker.process.kill(signal);
    };
    cluster.on("listening", (_worker, { address, port }) => {
      listening++;
      if (listening === options.count) options.onListening(`http://${address ?? "localhost"}:${port}`);
    });
    cluster.on("exit", (worker, code, signal) => {
      const lived = performance.now() - started.get(worker)!;
      started.delete(worker);
      if (!stopping && listening >= options.count && lived > START_MS) {
        options.log.error({ code, signal }, "a worker died; another one is started");
        startWorker();
        return;
      }
      if (!stopping) stop("SIGTERM");
      if (started.size === 0) resolve(listening >= options.count ? code : code || FAILED);
    });
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
    for (let i = 0; i < options.count; i++) startWorker();
  });
}
