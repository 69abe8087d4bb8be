import { CommandError, exitCodes } from "./exit-codes.js";
import { type ProgramDefinition, runProgram } from "./program.js";

/**
 * The process around a program: its streams, its signals and its end. The one place that touches `process`.
 * A closed pipe (`strata search x | head`) ends quietly; the first Ctrl-C aborts the command, the second ends the process.
 */
export async function startProgram(definition: ProgramDefinition): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(exitCodes.ok);
      throw error;
    });
  }
  const interrupt = new AbortController();
  const onSignal = (): void => {
    if (interrupt.signal.aborted) process.exit(exitCodes.interrupted);
    interrupt.abort(new CommandError("interrupted", "interrupted"));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  const releaseSignals = (): void => {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  };
  const terminal = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: process.env };
  process.exitCode = await runProgram(definition, process.argv.slice(2), {
    terminal,
    signal: interrupt.signal,
    releaseSignals,
  });
  releaseSignals();
}
