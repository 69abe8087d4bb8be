import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Evaluates a nixpkgs tree with nix-env: the same list that a channel's packages.json is made of. */

export interface EvaluateOptions {
  /** The nix-env to run. */
  nixEnv: string;
  /** Platform to evaluate for. */
  system: string;
  /** A folder for Nix's own files: evaluation writes to no other store. */
  scratch: string;
  signal: AbortSignal;
}

/** nix-env could not evaluate the tree, or is not there. */
export class EvaluationError extends Error {
  override name = "EvaluationError";
}

/** How much of nix-env's complaints is shown: its last lines name the cause. */
const SHOWN_COMPLAINT_CHARACTERS = 1500;

/** The bytes nix-env prints; evaluation of a whole tree takes from ten seconds to minutes before the first of them. */
export async function* evaluateTree(tree: string, options: EvaluateOptions): AsyncGenerator<Uint8Array> {
  const folder = resolve(tree);
  if (!existsSync(join(folder, "default.nix"))) {
    throw new EvaluationError(`${folder} has no default.nix: it is not a nixpkgs tree.`);
  }
  const child = spawn(options.nixEnv, evaluationArguments(folder, options), {
    cwd: folder,
    env: evaluationEnvironment(options.scratch),
    stdio: ["ignore", "pipe", "pipe"],
    signal: options.signal,
  });
  const complaints = collectTail(child);
  const finished = waitForExit(child, options.nixEnv);
  // Its failure is asked for below; until then it must not count as unhandled.
  finished.catch(() => {});
  try {
    for await (const chunk of child.stdout) {
      yield chunk as Uint8Array;
    }
    const status = await finished;
    if (status !== 0) {
      throw new EvaluationError(`nix-env could not evaluate ${folder} (${status}): ${complaints()}`);
    }
  } finally {
    child.kill();
  }
}

function evaluationArguments(folder: string, { system }: EvaluateOptions): string[] {
  const config = join(folder, "pkgs", "top-level", "packages-config.nix");
  return [
    "-f",
    folder,
    "-qaP",
    "--json",
    "--meta",
    "--argstr",
    "system",
    system,
    // The tree's own idea of what a package list holds: which nested sets to enter, no aliases.
    ...(existsSync(config) ? ["--arg", "config", `import ${config}`] : []),
  ];
}

/** A store of its own in the scratch folder: no daemon, no root's profile, no configuration of the machine. */
function evaluationEnvironment(scratch: string): NodeJS.ProcessEnv {
  const folder = (name: string) => {
    const path = join(scratch, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const configuration = folder("conf");
  writeFileSync(join(configuration, "nix.conf"), "build-users-group =\nsandbox = false\nsubstituters =\n");
  return {
    PATH: process.env["PATH"],
    HOME: folder("home"),
    NIX_STORE_DIR: folder("store"),
    NIX_STATE_DIR: folder("state"),
    NIX_LOG_DIR: folder("log"),
    NIX_CONF_DIR: configuration,
    NIX_REMOTE: "",
    // What is unfree, broken or insecure is still part of history.
    NIXPKGS_ALLOW_UNFREE: "1",
    NIXPKGS_ALLOW_BROKEN: "1",
    NIXPKGS_ALLOW_INSECURE: "1",
    NIXPKGS_ALLOW_UNSUPPORTED_SYSTEM: "1",
  };
}

function collectTail(child: ChildProcess): () => string {
  let tail = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-SHOWN_COMPLAINT_CHARACTERS);
  });
  return () => tail.trim() || "it gave no reason";
}

/** The exit status, or the signal that ended it. */
function waitForExit(child: ChildProcess, program: string): Promise<number | string> {
  return new Promise((settle, fail) => {
    child.on("error", (cause) => {
      const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
      fail(
        missing
          ? new EvaluationError(`${program} is not installed. Install Nix (Debian: nix-bin), or give --nix-env PATH.`)
          : cause,
      );
    });
    child.on("close", (code, signal) => settle(code ?? signal ?? "unknown"));
  });
}
