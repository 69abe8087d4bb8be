/** The messages between engine-host.ts (parent) and engine-process.ts (child). Pixels travel as typed arrays (advanced serialization). */
import type { EngineErrorCode, EngineJob, EngineProgress, EngineResult, ModelFiles } from "./engine-api.js";
import type { Backend, CpuMath } from "./engine-options.js";

export interface ProcessSettings {
  readonly backend: Backend;
  /** default: float32 */
  readonly cpuMath?: CpuMath;
  readonly threads: number;
  readonly memoryBudgetBytes: number;
  readonly scratchFolder: string;
  readonly tokenizerFolder: string | undefined;
}

export type HostMessage =
  /** always the first */
  | { readonly type: "start"; readonly settings: ProcessSettings }
  | { readonly type: "generate"; readonly id: number; readonly job: EngineJob }
  | { readonly type: "load"; readonly id: number; readonly model: ModelFiles }
  | { readonly type: "unload"; readonly id: number; readonly name: string | undefined }
  | { readonly type: "cancel"; readonly id: number };

export type ProcessMessage =
  | { readonly type: "ready" }
  /** the backend does not run here; the process ends */
  | { readonly type: "unavailable"; readonly message: string }
  | { readonly type: "progress"; readonly id: number; readonly progress: EngineProgress }
  /** which models have components in memory */
  | { readonly type: "models"; readonly names: readonly string[] }
  | { readonly type: "done"; readonly id: number; readonly result: CallResult }
  | { readonly type: "failed"; readonly id: number; readonly code: EngineErrorCode; readonly message: string };

/** A result per kind of call. */
export type CallResult =
  | { readonly kind: "generate"; readonly result: EngineResult }
  | { readonly kind: "load"; readonly loadTimeMs: number }
  | { readonly kind: "unload"; readonly names: readonly string[] };
