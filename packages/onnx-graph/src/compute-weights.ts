import { Worker } from "node:worker_threads";
import { type WeightQueue, workOffQueue } from "./weight-queue.js";
import { type WeightWork, weighWork } from "./weight-work.js";

export interface WeightComputation {
  /** settles when the threads are done */
  readonly done: Promise<void>;
  /** takes a share of what is left in this thread, then waits for the others */
  finish(): Promise<void>;
}

/** Below this a thread takes longer to start than the work to do. */
const MIN_BYTES_FOR_THREADS = 16 << 20;

/**
 * Begins the work that building a graph has left (`BuiltGraph.work`) on threads of its own. A session can be created meanwhile unless
 * `needsComputedWeights` says otherwise; it must not run before all is done.
 */
export function startWeights(work: readonly WeightWork[], threads: number): WeightComputation {
  // the largest first, so that no thread is left with a large one at the end
  const sorted = [...work].sort((a, b) => weighWork(b) - weighWork(a));
  const queue: WeightQueue = { work: sorted, next: new SharedArrayBuffer(4) };
  const bytes = work.reduce((sum, item) => sum + weighWork(item), 0);
  const count = bytes < MIN_BYTES_FOR_THREADS ? 0 : Math.min(threads, work.length);
  const started = Array.from({ length: count }, () => runWorker(queue));
  if (count === 0) started.push(Promise.resolve().then(() => workOffQueue(queue)));
  const done = Promise.allSettled(started).then((outcomes) => {
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  });
  // whoever waits is told
  done.catch(() => undefined);
  return {
    done,
    async finish() {
      try {
        workOffQueue(queue);
      } finally {
        await done;
      }
    },
  };
}

/** The same for who has nothing else to do meanwhile. */
export function computeWeights(work: readonly WeightWork[], threads: number): Promise<void> {
  return startWeights(work, threads).done;
}

/** Whether creating a session reads the computed weights: rounded ones are packed anew for the kernels, filters are only mapped. */
export function needsComputedWeights(work: readonly WeightWork[]): boolean {
  return work.some(({ kind }) => kind !== "block");
}

function runWorker(queue: WeightQueue): Promise<void> {
  return new Promise((resolve, reject) => {
    // the built file, from the source folder as well
    const program = new URL("../dist/weight-worker.js", import.meta.url);
    const worker = new Worker(program, { workerData: queue, execArgv: [] });
    worker.once("error", reject);
    worker.once("exit", () => resolve());
  });
}
