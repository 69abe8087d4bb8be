// Runs a server until it is asked to stop, and stops it well.
import type { Logger } from "pino";
import type { KernelServer } from "./create-server.js";

export interface RunOptions {
  readonly server: Pick<KernelServer, "close">;
  readonly log: Logger;
  readonly deadlineMs?: number;
  /** The service's own endings (engine process, index file), after the last request. */
  readonly afterClose?: () => Promise<void>;
}

/** Resolves with the exit code after SIGTERM or SIGINT; a second signal stops waiting at once. */
export async function runUntilSignal(options: RunOptions): Promise<number> {
  const signal = await nextSignal();
  options.log.info({ signal }, "stopping");
  const impatient = nextSignal().then(() => INTERRUPTED);
  const closing = options.server
    .close(options.deadlineMs)
    .then(() => options.afterClose?.())
    .then(() => 0);
  return Promise.race([closing, impatient]);
}

/** As shells count a program that a second Ctrl-C ended. */
const INTERRUPTED = 130;

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const done = (signal: NodeJS.Signals) => {
      process.off("SIGTERM", done);
      process.off("SIGINT", done);
      resolve(signal);
    };
    process.on("SIGTERM", done);
    process.on("SIGINT", done);
  });
}
