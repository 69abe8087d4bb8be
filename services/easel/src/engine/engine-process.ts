/** The child process: takes calls from engine-host.ts one by one, runs them, reports. Started by fork with an IPC channel. */
import { EngineError } from "./engine-api.js";
import type { CallResult, HostMessage, ProcessMessage, ProcessSettings } from "./engine-protocol.js";
import { createEngineWorker, type EngineWorker } from "./engine-worker.js";
import { explainError } from "./explain-error.js";
import { createProductSession, multiplyMatrices } from "./runtime-session.js";

type Call = Extract<HostMessage, { readonly type: "generate" | "load" | "unload" }>;

let worker: EngineWorker | undefined;
let cancelledId = -1;

function send(message: ProcessMessage): void {
  // a vanished parent is noticed by "disconnect"; a failed send has nobody to be told
  if (process.connected) process.send?.(message, () => undefined);
}

async function start(settings: ProcessSettings): Promise<void> {
  try {
    await probeBackend(settings);
  } catch (error) {
    send({ type: "unavailable", message: explainError(error).message });
    return;
  }
  worker = createEngineWorker(settings, (names) => send({ type: "models", names }));
  send({ type: "ready" });
}

/** A product on the backend itself: a provider that is listed but cannot run fails here, not in the first job. */
async function probeBackend(settings: ProcessSettings): Promise<void> {
  const options = { target: settings.backend, compute: "fp32", weights: "fold" } as const;
  const session = await createProductSession(options, settings.threads);
  const product = await multiplyMatrices(session, Float32Array.of(1, 2, 3, 4), Float32Array.of(5, 6, 7, 8), [2, 2, 2]);
  await session.release();
  if (product.join() !== "19,22,43,50") throw new Error(`the ${settings.backend} backend computes wrongly: ${product}`);
}

async function runCall(call: Call): Promise<CallResult> {
  if (!worker) throw new EngineError("INFERENCE_ERROR", "the engine process was not started properly");
  const context = {
    report: (progress: Parameters<Parameters<EngineWorker["load"]>[1]["report"]>[0]) =>
      send({ type: "progress", id: call.id, progress }),
    isCancelled: () => cancelledId === call.id,
  };
  if (call.type === "generate") return { kind: "generate", result: await worker.generate(call.job, context) };
  if (call.type === "load") return { kind: "load", loadTimeMs: await worker.load(call.model, context) };
  return { kind: "unload", names: await worker.unload(call.name) };
}

process.on("message", (message: HostMessage) => {
  if (message.type === "start") void start(message.settings);
  else if (message.type === "cancel") cancelledId = message.id;
  else {
    runCall(message).then(
      (result) => send({ type: "done", id: message.id, result }),
      (error: unknown) => send({ type: "failed", id: message.id, ...explainError(error) }),
    );
  }
});
// the parent is gone: nobody is left to draw for
process.on("disconnect", () => process.exit(0));
// Ctrl-C in a terminal and a service manager's stop reach the whole group; the parent decides what becomes of a running job
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
