import { Worker } from "node:worker_threads";
import { doWeightWork, type WeightWork, weighWork } from "./weight-work.js";

/** What a thread is started with: the list, and where in it the next one to do stands. */
export interface WorkerTask {
  readonly work: readonly WeightWork[];
  readonly next: SharedArrayBuffer;
}

/** Below this a thread takes longer to start than the work to do. */
const MIN_BYTES_FOR_THREADS = 16 << 20;

/** Does the work that building a graph has left (`BuiltGraph.work`); the session may be created afterwards. */
export async function computeWeights(work: readonly WeightWork[], threads: number): Promise<void> {
  const bytes = work.reduce((sum, item) => sum + weighWork(item), 0);
  if (bytes < MIN_BYTES_FOR_THREADS || threads < 2) {
    for (const item of work) doWeightWork(item);
    return;
  }
  // the largest first, so that no thread is left with a large one at the end
  const sorted = [...work].sort((a, b) => weighWork(b) - weighWork(a));
  const task: WorkerTask = { work: sorted, next: new SharedArrayBuffer(4) };
  const started = Array.from({ length: Math.min(threads, work.length) }, () => runWorker(task));
  const outcomes = await Promise.allSettled(started);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

function runWorker(task: WorkerTask): Promise<void> {
  return new Promise((resolve, reject) => {
    // the built file, from the source folder as well
    const program = new URL("../dist/weight-worker.js", import.meta.url);
    const worker = new Worker(program, { workerData: task, execArgv: [] });
    worker.once("error", (error) => {
      // the others need not go on
      Atomics.store(new Int32Array(task.next), 0, task.work.length);
      reject(error);
    });
    worker.once("exit", () => resolve());
  });
}
