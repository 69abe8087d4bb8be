/** The real program on a free port, with folders of its own and a tiny seeded model that draws in milliseconds. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeTinyAdapter, writeTinyCheckpoint } from "@kit/diffusion/testing";
import { type Client, createClient } from "@kit/http-kernel/contract";
import { type RunningProgram, startProgram } from "@kit/http-kernel/testing";
import { routes } from "../contract/routes.js";

export interface TestFolders {
  readonly root: string;
  readonly models: string;
  readonly output: string;
  readonly adapters: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  remove(): Promise<void>;
}

export interface TestEasel {
  readonly url: string;
  readonly client: Client<typeof routes>;
  readonly folders: TestFolders;
  readonly program: RunningProgram;
  /** process ids of the engine */
  engines(): number[];
  /** Stops the program and, unless the folders were given, removes them. */
  stop(signal?: NodeJS.Signals): Promise<number | string>;
}

const PROGRAM = fileURLToPath(new URL("../../bin/easel.js", import.meta.url));

/** Folders with the models `tiny` (the default) and `other`, and the adapter `style.safetensors`. */
export async function createTestFolders(): Promise<TestFolders> {
  const root = await mkdtemp(join(tmpdir(), "easel-"));
  const models = join(root, "models");
  const adapters = join(root, "adapters");
  await mkdir(adapters, { recursive: true });
  await Promise.all([
    writeTinyCheckpoint(join(models, "local", "tiny"), { seed: 1 }),
    writeTinyCheckpoint(join(models, "local", "other"), { seed: 2 }),
    writeTinyAdapter(join(adapters, "style.safetensors")),
  ]);
  const home = (name: string) => join(root, name);
  return {
    root,
    models,
    adapters,
    output: join(root, "output"),
    env: {
      HOME: root,
      XDG_CONFIG_HOME: home("config"),
      XDG_DATA_HOME: home("data"),
      XDG_CACHE_HOME: home("cache"),
      XDG_STATE_HOME: home("state"),
      SERVICE_MODELS_DIR: models,
      SERVICE_ADAPTERS_DIR: adapters,
      SERVICE_OUTPUT_DIR: join(root, "output"),
      SERVICE_DEFAULT_MODEL: "tiny",
      SERVICE_BACKEND: "cpu",
      SERVICE_THREADS: "1",
      SERVICE_API_KEY: undefined,
      // Nothing here may reach the real hub.
      HF_ENDPOINT: "http://127.0.0.1:9",
      HF_TOKEN: undefined,
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

export interface StartOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly folders?: TestFolders;
  readonly apiKey?: string;
}

export async function startEasel({
  flags = [],
  env = {},
  folders: given,
  apiKey,
}: StartOptions = {}): Promise<TestEasel> {
  const folders = given ?? (await createTestFolders());
  const program = await startProgram({
    command: process.execPath,
    args: [PROGRAM, "serve", "--port", "0", ...flags],
    env: { ...folders.env, ...env },
    startMs: 60_000,
  });
  return {
    url: program.url,
    client: createClient(routes, { baseUrl: program.url, apiKey }),
    folders,
    program,
    engines: () =>
      childrenOf(program.process.pid!).filter((pid) => readProcess(pid, "cmdline").includes("engine-process")),
    async stop(signal = "SIGTERM") {
      const code = await program.stop(signal);
      if (!given) await folders.remove();
      return code;
    },
  };
}

/** From /proc, because not every machine has pgrep. */
function childrenOf(parent: number): number[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  // "pid (name) state parent ...": the name may hold anything, so count from its end.
  return pids.filter((pid) => Number(readProcess(pid, "stat").split(") ").at(-1)?.split(" ")[1]) === parent);
}

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
