/** Which backend really runs here: each candidate is started in a process of its own and has to compute something. */
import { existsSync, readdirSync } from "node:fs";
import { EngineError } from "./engine-api.js";
import type { Backend, BackendChoice } from "./engine-options.js";

/** Starts and ends a process on a backend; throws EngineError with the reason if it does not run. */
export type BackendProbe = (backend: Backend) => Promise<void>;

/** An explicit choice that does not run is an error, never a silent fallback; `auto` goes on to the next. */
export async function chooseBackend(choice: BackendChoice, probe: BackendProbe): Promise<Backend> {
  // nothing to find out: its absence would show in the first call just as clearly
  if (choice === "cpu") return "cpu";
  if (choice !== "auto") {
    await probe(choice);
    return choice;
  }
  for (const candidate of hasGraphicsDevice() ? (["cuda", "webgpu"] as const) : []) {
    try {
      await probe(candidate);
      return candidate;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }
  return "cpu";
}

/** Without a device WebGPU may still find a software renderer, which is far slower than the CPU backend. */
function hasGraphicsDevice(): boolean {
  if (process.platform !== "linux") return true;
  if (existsSync("/dev/nvidia0")) return true;
  return existsSync("/dev/dri") && readdirSync("/dev/dri").some((name) => name.startsWith("renderD"));
}
