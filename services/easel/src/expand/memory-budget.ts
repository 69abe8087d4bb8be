/**
 * One budget with the picture engine. Before a local language model is loaded, `admit` is asked; it lets small models pass, and a large one
 * only when it fits beside what is there. While a generation runs, the language model waits for it; when nothing runs, idle image models
 * make room. The language model leaves after some idle time, and right after its answer where little memory is left beside it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../engine/engine-api.js";
import { ExpandError } from "./expand-error.js";

export interface MemoryBudget {
  /** Resolves when so many bytes may be taken now. Rejects with OUT_OF_MEMORY when they cannot be had. */
  admit(bytes: number, name: string, signal: AbortSignal): Promise<void>;
  /** Whether something of this size should leave as soon as its work is done. */
  isCrowdedBy(bytes: number): boolean;
}

export interface MemoryBudgetOptions {
  readonly engine: Pick<Engine, "status" | "unload">;
  /** the server's memory budget, which the engine's process counts against too; without one the machine's free memory decides */
  readonly budgetBytes?: number | undefined;
  /** what the system could still give out, in bytes */
  readonly availableBytes?: () => number;
  readonly pollMs?: number;
}

/** Below this (the built-in model) nothing is asked: a generation needs far more than this to breathe anyway. */
const SMALL_BYTES = 256 * 2 ** 20;
/** Left free for the system and for the engine's swings. */
const RESERVE_BYTES = 512 * 2 ** 20;
/** With less than this free, the next image model would have to squeeze in beside an idle language model. */
const COMFORT_BYTES = 3 * 2 ** 30;
const POLL_MS = 250;

export const unlimitedMemory: MemoryBudget = { admit: async () => {}, isCrowdedBy: () => false };

export function createMemoryBudget(options: MemoryBudgetOptions): MemoryBudget {
  const { engine, budgetBytes = Number.POSITIVE_INFINITY } = options;
  const available = options.availableBytes ?? (() => process.availableMemory());
  const free = () => Math.max(0, Math.min(available() - RESERVE_BYTES, budgetBytes - engine.status().residentBytes));
  const fits = (bytes: number) => bytes <= free();
  return {
    isCrowdedBy: (bytes) => bytes > SMALL_BYTES && available() < COMFORT_BYTES,
    async admit(bytes, name, signal) {
      if (bytes <= SMALL_BYTES || fits(bytes)) return;
      while (engine.status().busy) {
        await sleep(options.pollMs ?? POLL_MS, undefined, { signal });
        if (fits(bytes)) return;
      }
      if (engine.status().modelsLoaded.length > 0) await engine.unload();
      if (fits(bytes)) return;
      throw new ExpandError(
        "OUT_OF_MEMORY",
        `The language model '${name}' needs ${mib(bytes)} MiB and ${mib(free())} MiB are free for it. Choose a smaller one with SERVICE_EXPAND_MODEL, or leave it unset for the built-in model.`,
      );
    },
  };
}

const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);
