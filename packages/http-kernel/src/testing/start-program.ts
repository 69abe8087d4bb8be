// Starts a real program and waits until it says where it listens.
import { type ChildProcess, spawn } from "node:child_process";

export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** How long the start may take. */
  readonly startMs?: number;
}

export interface RunningProgram {
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  /** Everything written so far, both outputs. */
  output(): string;
  /** Sends the signal and waits; the exit code, or the signal's name if it died of it. */
  stop(signal?: NodeJS.Signals): Promise<number | string>;
}

/** The program ended instead of listening. */
export class ProgramEnded extends Error {
  override readonly name = "ProgramEnded";
  constructor(
    readonly exitCode: number | null,
    readonly output: string,
  ) {
    super(`The program ended with ${exitCode} before it listened:\n${output}`);
  }
}

const DEFAULT_START_MS = 30_000;

export async function startProgram(options: ProgramOptions): Promise<RunningProgram> {
  const child = spawn(options.command, options.args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  let output = "";
  const ended = new Promise<number | string>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal ?? -1)),
  );
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`The program does not say where it listens:\n${output}`));
    }, options.startMs ?? DEFAULT_START_MS);
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const found = /http:\/\/[^\s/"',]+:\d+/.exec(output)?.[0];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("close", (code) => {
      clearTimeout(timer);
      reject(new ProgramEnded(code, output));
    });
    child.once("error", reject);
  });
  return {
    url,
    port: Number(new URL(url).port),
    process: child,
    output: () => output,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
  };
}
