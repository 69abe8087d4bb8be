/**
 * One engine process as seen from outside: a call in, its result or a clear error out, whatever happens to the process.
 * A call that ends with the process dead (crash, memory kill, hang, cancelled too slowly) fails alone; the host starts another process.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { recommendedEnvironment } from "@kit/onnx-graph";
import { type CallOptions, EngineError } from "./engine-api.js";
import type { CallResult, HostMessage, ProcessMessage, ProcessSettings } from "./engine-protocol.js";
import { countMemoryKills } from "./memory-kills.js";
import { vulkanVariables } from "./vulkan-driver.js";

export type EngineCall =
  | Omit<Extract<HostMessage, { type: "generate" }>, "id">
  | Omit<Extract<HostMessage, { type: "load" }>, "id">
  | Omit<Extract<HostMessage, { type: "unload" }>, "id">;

export interface ChildOptions {
  readonly settings: ProcessSettings;
  readonly watchdogMs: number;
  readonly cancelGraceMs: number;
  readonly onModels: (names: readonly string[]) => void;
  readonly onExit: () => void;
}

export interface EngineChild {
  readonly pid: number;
  call(call: EngineCall, options: CallOptions): Promise<CallResult>;
  /** ends the process; resolves when it is gone */
  stop(): Promise<void>;
}

/** Loading the native library and one product; a driver that needs longer is broken. */
const START_LIMIT_MS = 120_000;
/** How much of the process's last words is kept for the message about its death. */
const LAST_WORDS = 2_000;

interface Running {
  readonly id: number;
  readonly options: CallOptions;
  settle(outcome: CallResult | EngineError): void;
}

export async function startEngineChild(options: ChildOptions): Promise<EngineChild> {
  const path = fileURLToPath(new URL("../../dist/engine/engine-process.js", import.meta.url));
  const killsBefore = countMemoryKills();
  const child = fork(path, [], {
    serialization: "advanced",
    execArgv: [],
    env: {
      ...recommendedEnvironment(process.env),
      ...(options.settings.backend === "webgpu" ? vulkanVariables(process.env, options.settings.scratchFolder) : {}),
    },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let lastWords = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    lastWords = (lastWords + chunk.toString()).slice(-LAST_WORDS);
  });
  /** why we killed it, if we did */
  let killReason: EngineError | undefined;
  let running: Running | undefined;
  let nextId = 1;
  let watchdog: NodeJS.Timeout | undefined;

  const kill = (reason: EngineError) => {
    killReason ??= reason;
    child.kill("SIGKILL");
  };
  const feedWatchdog = () => {
    clearTimeout(watchdog);
    if (!running) return;
    const seconds = Math.round(options.watchdogMs / 1000);
    const hung = new EngineError("INFERENCE_ERROR", `the engine reported nothing for ${seconds} s and was restarted`);
    watchdog = setTimeout(() => kill(hung), options.watchdogMs);
  };
  const settle = (outcome: CallResult | EngineError) => {
    clearTimeout(watchdog);
    running?.settle(outcome);
  };

  child.on("message", (message: ProcessMessage) => {
    if (message.type === "models") options.onModels(message.names);
    if (!("id" in message) || message.id !== running?.id) return;
    feedWatchdog();
    if (message.type === "progress") running.options.onProgress?.(message.progress);
    else if (message.type === "done") settle(message.result);
    else settle(new EngineError(message.code, message.message));
  });
  child.on("exit", (code, signal) => {
    settle(killReason ?? explainDeath(code, signal, countMemoryKills() > killsBefore, lastWords));
    options.onExit();
  });
  // a failed fork or send is followed by exit, which is dealt with above
  child.on("error", (error) => {
    lastWords += error.message;
  });

  await waitUntilReady(child, options.settings, gone, () => lastWords);

  return {
    pid: child.pid!,
    async call(call, callOptions) {
      const id = nextId++;
      const { signal } = callOptions;
      let grace: NodeJS.Timeout | undefined;
      const cancel = () => {
        child.send({ type: "cancel", id } satisfies HostMessage);
        const late = new EngineError("CANCELLED", "the job was cancelled");
        grace = setTimeout(() => kill(late), options.cancelGraceMs);
      };
      try {
        return await new Promise<CallResult>((resolve, reject) => {
          running = {
            id,
            options: callOptions,
            settle: (outcome) => (outcome instanceof EngineError ? reject(outcome) : resolve(outcome)),
          };
          feedWatchdog();
          child.send({ ...call, id } as HostMessage, (error) => {
            if (error) settle(new EngineError("INFERENCE_ERROR", `the engine process is gone (${error.message})`));
          });
          if (signal?.aborted) cancel();
          else signal?.addEventListener("abort", cancel, { once: true });
        });
      } finally {
        running = undefined;
        clearTimeout(watchdog);
        clearTimeout(grace);
        signal?.removeEventListener("abort", cancel);
      }
    },
    async stop() {
      killReason ??= new EngineError("CANCELLED", "the engine was closed");
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill("SIGKILL"), options.cancelGraceMs);
      await gone;
      clearTimeout(timer);
    },
  };
}

async function waitUntilReady(
  child: ChildProcess,
  settings: ProcessSettings,
  gone: Promise<void>,
  lastWords: () => string,
): Promise<void> {
  const timer = setTimeout(() => child.kill("SIGKILL"), START_LIMIT_MS);
  const first = new Promise<ProcessMessage>((resolve) => child.once("message", resolve));
  child.send({ type: "start", settings } satisfies HostMessage, () => undefined);
  const message = await Promise.race([first, gone]);
  clearTimeout(timer);
  if (message?.type === "ready") return;
  child.kill("SIGKILL");
  const reason =
    message?.type === "unavailable" ? message.message : `its process ended: ${lastWords() || "no reason given"}`;
  throw new EngineError("INFERENCE_ERROR", `the ${settings.backend} backend does not work here: ${reason}`);
}

function explainDeath(
  code: number | null,
  signal: NodeJS.Signals | null,
  memoryKill: boolean,
  lastWords: string,
): EngineError {
  if (signal === "SIGKILL" && memoryKill) {
    return new EngineError(
      "OUT_OF_MEMORY",
      "the system killed the engine because memory ran out; use a smaller size, a quantised model or a smaller memory budget",
    );
  }
  const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
  const words = lastWords.trim();
  return new EngineError("INFERENCE_ERROR", `the engine process ${how}${words ? `: ${words}` : ""}`);
}
