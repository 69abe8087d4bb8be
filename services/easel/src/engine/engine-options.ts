import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import type { GpuInfo } from "./engine-api.js";

export type BackendChoice = "cpu" | "webgpu" | "cuda" | "auto";
export type Backend = Exclude<BackendChoice, "auto">;
/** float32 is exact to rounding: a seed gives the same picture everywhere. int8 is about twice as fast on processors made for it, and pictures move a little. */
export type CpuMath = "float32" | "int8";

export interface EngineOptions {
  /** `auto` takes the first of cuda, webgpu, cpu that really runs */
  readonly backend?: BackendChoice;
  /** arithmetic of the cpu backend; int8 only where the processor has instructions for it (choose-cpu-math.ts); default: float32 */
  readonly cpuMath?: CpuMath;
  /** told once why a setting has no effect here */
  readonly onNotice?: (message: string) => void;
  /** threads of one session; default: physical cores */
  readonly threads?: number;
  /** bytes that loaded components and the work on them may take together; default: three quarters of the graphics card's, the container's or the machine's memory */
  readonly memoryBudgetBytes?: number;
  /** a running call that reports nothing for this long is taken for hung; default 30 minutes */
  readonly watchdogMs?: number;
  /** how long a cancelled call may take to reach the end of its step before the process is killed; default 5 seconds */
  readonly cancelGraceMs?: number;
  /** folder for weights computed at load (merged, quantised); the files are gone once a session has mapped them */
  readonly scratchFolder?: string;
  /** a CLIP tokenizer for checkpoints that bring none (single files) */
  readonly tokenizerFolder?: string;
}

/**
 * One native call is the longest silence of a healthy engine: a step of SDXL at 2048x2048 takes several minutes on two slow cores.
 * Half an hour is beyond any of them.
 */
export const DEFAULT_WATCHDOG_MS = 30 * 60_000;

/** Reloading a model takes about a second; waiting longer than this for a slow step is the worse deal. */
export const DEFAULT_CANCEL_GRACE_MS = 5_000;

/** The rest is for the server, the operating system and the file cache that mapped weights live in. */
const MEMORY_SHARE = 0.75;

export function chooseMemoryBudget(gpu: GpuInfo | null): number {
  if (gpu) return Math.floor(gpu.vramTotalMb * 2 ** 20 * MEMORY_SHARE);
  // 0 or a huge number where no container limits memory
  const limit = process.constrainedMemory();
  const usable = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.floor(usable * MEMORY_SHARE);
}

/** Physical cores among those this process may use: a second thread on one core only waits for the first one's arithmetic units. */
export function countPhysicalCores(): number {
  const available = availableParallelism();
  try {
    const cores = new Set<string>();
    for (let cpu = 0; cpu < available; cpu++) {
      cores.add(readFileSync(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`, "utf8").trim());
    }
    return Math.max(1, cores.size);
  } catch {
    // not Linux, or a sandbox without /sys
    return available;
  }
}
