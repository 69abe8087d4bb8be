/** A GGUF language model on this machine, run in a process of its own: started by the first question, ended when idle. */
import { type ChildProcess, fork } from "node:child_process";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ExpandError } from "./expand-error.js";
import type { LanguageModel, Question } from "./language-model.js";
import type { FromLlama, GpuChoice, LlamaStart } from "./llama-messages.js";
import type { MemoryBudget } from "./memory-budget.js";

export interface LocalModelOptions {
  readonly name: string;
  /** the .gguf file */
  readonly path: string;
  readonly gpu: GpuChoice;
  readonly threads: number;
  /** the process ends after so long without a question */
  readonly idleMs: number;
  readonly budget: MemoryBudget;
  readonly format?: LlamaStart["format"];
  /** what runs the model; tests put a program that crashes in its place */
  readonly program?: string;
}

// The same depth in src/ and dist/; a child process needs the build.
const PROGRAM = fileURLToPath(new URL("../../dist/expand/llama-process.js", import.meta.url));
/** Weights, their copy in the page cache's shape, the context and the runtime itself. */
const BYTES_PER_FILE_BYTE = 1.2;
const RUNTIME_BYTES = 96 * 2 ** 20;
/** A process that has not even answered a cancel after so long hangs, and is ended. */
const CANCEL_GRACE_MS = 30_000;
/** Where memory is short: time for the next question of the same order, no more. */
const CROWDED_IDLE_MS = 500;
const KEPT_STDERR = 2000;

interface Pending {
  readonly resolve: (text: string) => void;
  readonly reject: (error: ExpandError) => void;
}

export function createLocalModel(options: LocalModelOptions): LanguageModel {
  const pending = new Map<number, Pending>();
  let child: ChildProcess | undefined;
  let starting: Promise<ChildProcess> | undefined;
  let idle: NodeJS.Timeout | undefined;
  let bytes = 0;
  let lastId = 0;

  async function start(signal: AbortSignal): Promise<ChildProcess> {
    const file = await stat(options.path).catch(() => undefined);
    if (!file?.isFile())
      throw new ExpandError(
        "EXPANSION_FAILED",
        `The language model '${options.name}' is not here: ${options.path} is no file. A model of the catalogue is pulled with 'easel models pull ${options.name}'.`,
      );
    bytes = file.size * BYTES_PER_FILE_BYTE + RUNTIME_BYTES;
    await options.budget.admit(bytes, options.name, signal);
    const { modelPath, gpu, threads, format }: LlamaStart = {
      modelPath: options.path,
      gpu: options.gpu,
      threads: options.threads,
      format: options.format ?? "model",
    };
    const started = fork(options.program ?? PROGRAM, [JSON.stringify({ modelPath, gpu, threads, format })], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      execArgv: [],
      serialization: "json",
    });
    follow(started);
    return started;
  }

  function follow(started: ChildProcess): void {
    let said = "";
    started.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-KEPT_STDERR);
    });
    started.on("message", (message: FromLlama) => settle(message));
    const gone = (how: string) => {
      if (child !== started) return;
      child = undefined;
      starting = undefined;
      const last = said.trim().split("\n").at(-1) ?? "";
      failAll(
        `The process of the language model '${options.name}' ${how}${last === "" ? "" : `: ${last}`}. It starts again with the next request.`,
      );
    };
    started.on("error", (error) => gone(`could not be started (${error.message})`));
    started.on("exit", (code, signal) => gone(signal ? `was ended by ${signal}` : `ended with code ${code}`));
    child = started;
  }

  function settle(message: FromLlama): void {
    const waiting = pending.get(message.id);
    pending.delete(message.id);
    if (pending.size === 0) restUntilAsked();
    if (!waiting) return;
    if (message.type === "answer") waiting.resolve(message.text);
    else waiting.reject(modelError(options.name, message));
  }

  function failAll(message: string): void {
    const waiting = [...pending.values()];
    pending.clear();
    for (const { reject } of waiting) reject(new ExpandError("EXPANSION_FAILED", message));
  }

  function restUntilAsked(): void {
    clearTimeout(idle);
    const idleMs = options.budget.isCrowdedBy(bytes) ? Math.min(CROWDED_IDLE_MS, options.idleMs) : options.idleMs;
    idle = setTimeout(() => void stop(), idleMs);
    idle.unref();
  }

  async function stop(): Promise<void> {
    clearTimeout(idle);
    const ending = child ?? (await starting?.catch(() => undefined));
    child = undefined;
    starting = undefined;
    failAll(`The language model '${options.name}' was stopped.`);
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      ending.once("exit", () => resolve());
      ending.kill("SIGKILL");
    });
  }

  return {
    name: options.name,
    async ask(question: Question, signal: AbortSignal): Promise<string> {
      signal.throwIfAborted();
      clearTimeout(idle);
      starting ??= start(signal).catch((error: unknown) => {
        starting = undefined;
        throw error;
      });
      const running = await starting;
      signal.throwIfAborted();
      const id = ++lastId;
      return new Promise<string>((resolve, reject) => {
        const abort = () => {
          if (running.connected) running.send({ type: "cancel", id });
          const hangs = setTimeout(() => pending.has(id) && running.kill("SIGKILL"), CANCEL_GRACE_MS);
          hangs.unref();
          reject(signal.reason);
        };
        const done =
          <T>(give: (value: T) => void) =>
          (value: T) => {
            signal.removeEventListener("abort", abort);
            give(value);
          };
        pending.set(id, { resolve: done(resolve), reject: done(reject) });
        signal.addEventListener("abort", abort, { once: true });
        running.send({ type: "ask", id, question }, (error) => {
          if (error) settle({ type: "failed", id, message: error.message, fault: "model" });
        });
      });
    },
    close: stop,
  };
}

function modelError(name: string, { message, fault }: Extract<FromLlama, { type: "failed" }>): ExpandError {
  if (fault === "request") return new ExpandError("VALIDATION_ERROR", message);
  if (fault === "memory")
    return new ExpandError("OUT_OF_MEMORY", `There is not enough memory for the language model '${name}': ${message}.`);
  return new ExpandError("EXPANSION_FAILED", `The language model '${name}' failed: ${message}.`);
}
