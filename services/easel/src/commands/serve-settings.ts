/** Every setting of the server. What becomes of the values is in server-options.ts, which loads the whole server. */
import { byteSize, choice, duration, integer, list, text, toggle } from "@kit/command-line";
import { DEFAULT_PORT } from "../contract/limits.js";
import { expandSettings } from "../expand/settings.js";
import { modelsDirSetting } from "./storage-settings.js";

/** Two hundred pictures are an hour and more of work on any machine we know. */
const MAX_WAITING = 200;
const IDLE_UNLOAD_MS = 10 * 60_000;

/** What the engine and the stores need, with or without a port to listen on. */
export const studioSettings = {
  model: text({
    flag: "-m, --model <name>",
    env: "SERVICE_DEFAULT_MODEL",
    key: "model",
    doc: "model for requests that name none",
    default: "doodle",
  }),
  modelsDir: modelsDirSetting,
  outputDir: text({
    flag: "--output-dir <folder>",
    env: "SERVICE_OUTPUT_DIR",
    key: "output_dir",
    doc: "where pictures are saved; empty: nowhere",
    default: undefined,
    defaultText: "output in the user's data folder",
    emptyIsValue: true,
  }),
  adaptersDir: text({
    flag: "--adapters-dir <folder>",
    env: "SERVICE_ADAPTERS_DIR",
    key: "adapters_dir",
    doc: "folder of adapters (lora)",
    default: undefined,
    defaultText: "adapters in the user's data folder",
  }),
  adapterRoots: list({
    flag: "--adapter-roots <folders>",
    env: "SERVICE_ADAPTER_ROOTS",
    key: "adapter_roots",
    doc: "further folders that absolute adapter paths may lie in",
    default: [],
  }),
  backend: choice({
    flag: "--backend <name>",
    env: "SERVICE_BACKEND",
    key: "engine.backend",
    doc: "what computes",
    default: "auto",
    choices: ["auto", "cpu", "webgpu", "cuda"],
  }),
  cpuMath: choice({
    flag: "--cpu-math <name>",
    env: "SERVICE_CPU_MATH",
    key: "engine.cpu_math",
    doc: "arithmetic of the cpu backend; int8: faster on processors with AMX or VNNI, pictures move a little",
    default: "float32",
    choices: ["float32", "int8"],
  }),
  threads: integer({
    flag: "--threads <number>",
    env: "SERVICE_THREADS",
    key: "engine.threads",
    doc: "threads of the engine",
    default: undefined,
    defaultText: "one a core",
    min: 1,
    max: 1024,
  }),
  memoryBudget: byteSize({
    flag: "--memory-budget <size>",
    env: "SERVICE_MEMORY_BUDGET",
    key: "engine.memory_budget",
    doc: "memory that loaded models and their work may take",
    default: undefined,
    defaultText: "three quarters of the machine's",
    min: 2 ** 20,
  }),
  idleUnload: duration({
    flag: "--idle-unload <time>",
    env: "SERVICE_IDLE_UNLOAD",
    key: "engine.idle_unload",
    doc: "unload models after so long without work; 0: never",
    default: IDLE_UNLOAD_MS,
    min: 0,
  }),
  hubUrl: text({
    flag: "--hub <url>",
    env: "HF_ENDPOINT",
    key: "hub.url",
    doc: "where models are pulled from",
    default: "https://huggingface.co",
  }),
  hubToken: text({
    env: "HF_TOKEN",
    key: "hub.token",
    doc: "token for gated models",
    default: undefined,
    secret: true,
  }),
  ...expandSettings,
} as const;

export const serveSettings = {
  host: text({
    flag: "--host <address>",
    env: "SERVICE_HOST",
    key: "serve.host",
    doc: "address to listen on",
    default: "127.0.0.1",
  }),
  port: integer({
    flag: "-p, --port <number>",
    env: "SERVICE_PORT",
    key: "serve.port",
    doc: "port; 0: any free one",
    default: DEFAULT_PORT,
    min: 0,
    max: 65_535,
  }),
  apiKey: text({
    flag: "--api-key <keys>",
    env: "SERVICE_API_KEY",
    key: "serve.api_key",
    doc: "keys that requests must carry one of: one, several by comma, or @file",
    default: undefined,
    secret: true,
  }),
  cors: toggle({
    flag: "--cors",
    env: "SERVICE_CORS",
    key: "serve.cors",
    doc: "let pages of every origin call",
    default: false,
  }),
  corsOrigins: list({
    flag: "--cors-origins <origins>",
    env: "SERVICE_CORS_ORIGINS",
    key: "serve.cors_origins",
    doc: "let pages of these origins call",
    default: [],
  }),
  rateLimit: text({
    flag: "--rate-limit <rate>",
    env: "SERVICE_RATE_LIMIT",
    key: "serve.rate_limit",
    doc: "requests a client may make: N, N/s, N/min or N/h",
    default: undefined,
  }),
  rateLimitBurst: integer({
    flag: "--rate-limit-burst <number>",
    env: "SERVICE_RATE_LIMIT_BURST",
    key: "serve.rate_limit_burst",
    doc: "requests a client may make at once",
    default: undefined,
    defaultText: "twice the rate",
    min: 1,
  }),
  trustProxy: text({
    flag: "--trust-proxy [networks]",
    env: "SERVICE_TRUST_PROXY",
    key: "serve.trust_proxy",
    doc: "believe X-Forwarded-For: from everyone, so many hops, or these networks",
    default: undefined,
  }),
  logLevel: text({
    flag: "--log-level <level>",
    env: "SERVICE_LOG_LEVEL",
    key: "serve.log_level",
    doc: "how much is logged",
    default: "info",
  }),
  maxQueue: integer({
    flag: "--max-queue <number>",
    env: "SERVICE_MAX_QUEUE",
    key: "serve.max_queue",
    doc: "jobs that may wait",
    default: MAX_WAITING,
    min: 0,
    max: 100_000,
  }),
  durableQueue: toggle({
    flag: "--durable-queue",
    env: "SERVICE_DURABLE_QUEUE",
    key: "serve.durable_queue",
    doc: "waiting jobs survive a restart",
    default: false,
  }),
  shutdownTime: duration({
    flag: "--shutdown-time <time>",
    env: "SERVICE_SHUTDOWN_TIME",
    key: "serve.shutdown_time",
    doc: "time that jobs get to finish when the server is asked to stop",
    default: 10_000,
    min: 0,
  }),
  ...studioSettings,
} as const;
