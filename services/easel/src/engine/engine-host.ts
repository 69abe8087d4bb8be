/**
 * The engine: a queue of calls in front of a child process that is started when needed, watched, and replaced when it dies.
 * The command line uses it in place exactly as the server does:
 *
 *   const engine = await createEngine({ backend: "cpu" });
 *   const { images } = await engine.generate(job, { onProgress });
 *   await engine.close();
 */
import { tmpdir } from "node:os";
import { createCallLine } from "./call-line.js";
import { chooseBackend } from "./choose-backend.js";
import { chooseCpuMath } from "./choose-cpu-math.js";
import { type CallOptions, type Engine, EngineError, type GpuInfo } from "./engine-api.js";
import { type EngineCall, type EngineChild, startEngineChild } from "./engine-child.js";
import {
  type Backend,
  type CpuMath,
  chooseMemoryBudget,
  countPhysicalCores,
  DEFAULT_CANCEL_GRACE_MS,
  DEFAULT_WATCHDOG_MS,
  type EngineOptions,
} from "./engine-options.js";
import type { CallResult } from "./engine-protocol.js";
import { createGpuWatch, queryGpu } from "./gpu-info.js";
import { readResidentBytes } from "./memory-kills.js";

/** Rejects with an EngineError if the chosen backend does not run on this machine. */
export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
  const line = createCallLine();
  const closing = new AbortController();
  let child: EngineChild | undefined;
  let starting: Promise<EngineChild> | undefined;
  let modelsLoaded: readonly string[] = [];
  let gpu: GpuInfo | null = null;
  let cpuMath: CpuMath = "float32";

  const startChild = (backend: Backend) =>
    startEngineChild({
      settings: {
        backend,
        cpuMath,
        threads: options.threads ?? countPhysicalCores(),
        memoryBudgetBytes: options.memoryBudgetBytes ?? chooseMemoryBudget(gpu),
        scratchFolder: options.scratchFolder ?? tmpdir(),
        tokenizerFolder: options.tokenizerFolder,
      },
      watchdogMs: options.watchdogMs ?? DEFAULT_WATCHDOG_MS,
      cancelGraceMs: options.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
      onModels: (names) => {
        modelsLoaded = names;
      },
      onExit: () => {
        child = undefined;
        modelsLoaded = [];
      },
    });
  const backend = await chooseBackend(options.backend ?? "auto", async (candidate) => {
    await (await startChild(candidate)).stop();
  });
  const { math, notice } = chooseCpuMath(options.cpuMath ?? "float32", backend);
  cpuMath = math;
  if (notice) options.onNotice?.(notice);
  if (backend !== "cpu") gpu = await queryGpu();
  const readGpu = backend === "cpu" ? () => null : createGpuWatch(gpu);

  const ensureChild = async (): Promise<EngineChild> => {
    if (child) return child;
    starting = startChild(backend);
    const started = await starting;
    if (closing.signal.aborted) throw new EngineError("CANCELLED", "the engine is closed");
    child = started;
    return started;
  };

  const run = (call: EngineCall, callOptions: CallOptions): Promise<CallResult> => {
    const { signal: own, ...rest } = callOptions;
    const signal = own ? AbortSignal.any([own, closing.signal]) : closing.signal;
    return line.enter(async () => (await ensureChild()).call(call, { ...rest, signal }), signal);
  };

  return {
    async generate(job, callOptions = {}) {
      const answer = await run({ type: "generate", job }, callOptions);
      return expectKind(answer, "generate").result;
    },
    async load(model, callOptions = {}) {
      const { loadTimeMs } = expectKind(await run({ type: "load", model }, callOptions), "load");
      return { loadTimeMs };
    },
    unload: (name) =>
      line.enter(async () => {
        if (!child) return [];
        const { names } = expectKind(await child.call({ type: "unload", name }, {}), "unload");
        // an empty process still holds what allocators keep for later; ending it gives everything back
        if (modelsLoaded.length === 0) await child.stop();
        return names;
      }),
    async checkAdapter(model, adapterPath) {
      // its modules are the engine process's; loading them here as well would hold up its start
      const { checkAdapter } = await import("./check-adapter.js");
      return checkAdapter(model, adapterPath);
    },
    status: () => ({
      busy: line.isBusy,
      modelsLoaded,
      backend,
      gpu: readGpu(),
      residentBytes: child ? readResidentBytes(child.pid) : 0,
    }),
    async close() {
      line.close();
      closing.abort();
      // a process that is just being started has to be ended as well
      const last = child ?? (await starting?.catch(() => undefined));
      await last?.stop();
    },
  };
}

function expectKind<K extends CallResult["kind"]>(answer: CallResult, kind: K): Extract<CallResult, { kind: K }> {
  if (answer.kind !== kind) throw new EngineError("INFERENCE_ERROR", `the engine answered ${answer.kind} to ${kind}`);
  return answer as Extract<CallResult, { kind: K }>;
}
