import { fileURLToPath } from "node:url";
import { type RunningProgram, startProgram } from "@kit/http-kernel/testing";

const PROGRAM = fileURLToPath(new URL("../../bin/strata.js", import.meta.url));

/** Starts the real server, as built, on any free port. */
export function startStrata(indexPath: string, flags: readonly string[] = []): Promise<RunningProgram> {
  return startProgram({
    command: process.execPath,
    args: [PROGRAM, "serve", "--port", "0", "--index", indexPath, "--log-level", "warn", ...flags],
    env: { XDG_CONFIG_HOME: "/nonexistent", STRATA_INDEX: undefined },
  });
}
