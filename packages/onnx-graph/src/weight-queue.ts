import { doWeightWork, type WeightWork } from "./weight-work.js";

/** Work that several threads share: the list, and where in it the next one to do stands. */
export interface WeightQueue {
  readonly work: readonly WeightWork[];
  readonly next: SharedArrayBuffer;
}

/** Does one piece after the other until none is left. Where one fails, the other threads need not go on either. */
export function workOffQueue({ work, next }: WeightQueue): void {
  const counter = new Int32Array(next);
  try {
    for (let index = Atomics.add(counter, 0, 1); index < work.length; index = Atomics.add(counter, 0, 1)) {
      doWeightWork(work[index]!);
    }
  } catch (error) {
    Atomics.store(counter, 0, work.length);
    throw error;
  }
}
