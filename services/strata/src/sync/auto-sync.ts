import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Syncs again and again beside a running server. Each sync is a process of its own (`strata sync --json`): unpacking, checking and applying differences take
 * seconds of computing, which must not be taken from requests. The server notices the new file by itself.
 */

export interface AutoSyncOptions {
  everyMs: number;
  indexPath: string;
  manifest: string;
  /** As given to --public-key; null syncs without looking at signatures. */
  publicKey: string | null;
  log(line: string): void;
  /** The program to run; the one this file belongs to unless a test says otherwise. */
  program?: string;
}

export interface AutoSync {
  /** Stops, also a sync that is under way; what it has fetched is taken up by the next. */
  stop(): Promise<void>;
}

/** bin/strata.js, seen from src/sync and from dist/sync alike. */
const PROGRAM = fileURLToPath(new URL("../../bin/strata.js", import.meta.url));

/** Syncs now, and then every so often. */
export function startAutoSync(options: AutoSyncOptions): AutoSync {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const round = () => {
    running = syncOnce(options, stopping.signal).then(() => {
      if (!stopping.signal.aborted) {
        timer = setTimeout(round, options.everyMs);
        timer.unref();
      }
    });
  };
  round();
  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

/** Never rejects: a sync that fails is logged, and the next one tries again. */
function syncOnce(options: AutoSyncOptions, signal: AbortSignal): Promise<void> {
  const trust = options.publicKey === null ? ["--unsigned"] : ["--public-key", options.publicKey];
  const words = ["sync", "--json", "--index", options.indexPath, "--manifest", options.manifest, ...trust];
  return new Promise((settle) => {
    const child = spawn(process.execPath, [options.program ?? PROGRAM, ...words], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stop = () => child.kill("SIGTERM");
    signal.addEventListener("abort", stop);
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output.stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output.stderr += text;
    });
    const end = (line: string | null) => {
      signal.removeEventListener("abort", stop);
      if (line !== null && !signal.aborted) {
        options.log(line);
      }
      settle();
    };
    child.on("error", (error) => end(`sync could not be started: ${error.message}`));
    child.on("close", (code) => end(describeEnd(code, output)));
  });
}

function describeEnd(code: number | null, { stdout, stderr }: { stdout: string; stderr: string }): string | null {
  if (code !== 0) {
    return `sync failed: ${stderr.trim() || stdout.trim() || `status ${code}`}`;
  }
  try {
    const result = JSON.parse(stdout) as { kind: string; commit: string; date: string };
    return result.kind === "up-to-date" ? null : `synced: the index is now at ${result.commit} of ${result.date}`;
  } catch {
    return `sync said something unexpected: ${stdout.slice(0, 200)}`;
  }
}
