/** One thread of compute-weights.ts: takes the next piece of work until none is left. */
import { workerData } from "node:worker_threads";
import type { WorkerTask } from "./compute-weights.js";
import { doWeightWork } from "./weight-work.js";

const { work, next } = workerData as WorkerTask;
const counter = new Int32Array(next);
for (let index = Atomics.add(counter, 0, 1); index < work.length; index = Atomics.add(counter, 0, 1)) {
  doWeightWork(work[index]!);
}
