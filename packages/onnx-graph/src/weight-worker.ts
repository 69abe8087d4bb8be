/** One thread of compute-weights.ts. */
import { workerData } from "node:worker_threads";
import { type WeightQueue, workOffQueue } from "./weight-queue.js";

workOffQueue(workerData as WeightQueue);
