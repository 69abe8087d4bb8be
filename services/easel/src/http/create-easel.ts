/** Puts the server together from its parts. `easel serve` and commands without a server both start here. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type CorsPolicy,
  createServer,
  type EventStreamLimits,
  type ListeningAddress,
  type ListenOptions,
  type Logger,
  type RateLimitRule,
  type TrustProxy,
} from "@kit/http-kernel";
import { errors } from "../contract/errors.js";
import type { Engine } from "../engine/engine-api.js";
import { languageModels } from "../expand/catalogue.js";
import type { Expander } from "../expand/expander.js";
import { createGallery } from "../gallery/gallery.js";
import { explainFailure } from "../generation/explain-failure.js";
import { createIdleUnload } from "../generation/idle-unload.js";
import type { AdapterFolders } from "../generation/resolve-adapter.js";
import { createStudio } from "../generation/studio.js";
import type { ExpandCall } from "../generation/worker.js";
import { catalogue } from "../models/catalogue/catalogue.js";
import { createHub, type HubOptions } from "../models/hub/hub-client.js";
import { createPullDesk } from "../models/hub/pull-desk.js";
import { createModelStore, type ModelStore } from "../models/model-store.js";
import { readBuildInfo } from "./build-info.js";
import type { EaselParts } from "./easel-parts.js";
import { expandRoutes } from "./expand-routes.js";
import { galleryRoutes } from "./gallery-routes.js";
import { generateRoutes } from "./generate-routes.js";
import { jobRoutes } from "./job-routes.js";
import { modelRoutes } from "./model-routes.js";
import { openAiRoutes } from "./openai-routes.js";
import { statusRoutes } from "./status-routes.js";

export interface EaselOptions {
  readonly engine: Engine;
  readonly createExpander: (models: ModelStore) => Expander;
  readonly log: Logger;
  readonly modelsFolder: string;
  readonly defaultModel: string;
  readonly adapters: AdapterFolders;
  /** undefined: pictures are not saved */
  readonly outputDirectory: string | undefined;
  readonly cacheDirectory: string;
  readonly hub: HubOptions;
  readonly maxWaiting: number;
  readonly journalPath?: string | undefined;
  /** 0: models stay loaded */
  readonly idleUnloadMs: number;
  readonly apiKeys?: readonly string[];
  readonly cors?: CorsPolicy;
  readonly rateLimit?: RateLimitRule | undefined;
  readonly trustProxy?: TrustProxy;
  readonly streamLimits?: Partial<EventStreamLimits>;
}

export interface Easel {
  listen(where: ListenOptions): Promise<ListeningAddress>;
  /** Jobs under way get until the deadline; then everything ends, the engine process included. */
  close(deadlineMs?: number): Promise<void>;
}

const BUILTIN_MODELS = fileURLToPath(new URL("../../../../models", import.meta.url));
const BUILTIN_ADAPTERS = join(BUILTIN_MODELS, "doodle", "adapters");
const WEB_PAGE = fileURLToPath(new URL("../../dist-web", import.meta.url));
const CLOSE_DEADLINE_MS = 10_000;
/** Time for the last events to reach their readers after the queue has closed. */
const LAST_WORDS_MS = 1_000;

export async function createEasel(options: EaselOptions): Promise<Easel> {
  const { engine, log } = options;
  const models = createModelStore({
    catalogue: [...catalogue, ...languageModels],
    modelsFolder: options.modelsFolder,
    builtinFolder: BUILTIN_MODELS,
    defaultModel: options.defaultModel,
    onProblem: createProblemLog(log),
  });
  const expander = options.createExpander(models);
  const gallery = createGallery({ directory: options.outputDirectory, cacheDirectory: options.cacheDirectory });
  const pulls = createPullDesk(createHub(options.hub), options.modelsFolder);
  const idle = createIdleUnload(engine, options.idleUnloadMs, (unloaded) =>
    log.info({ unloaded }, "idle models unloaded"),
  );
  const build = readBuildInfo();
  const adapters = { ...options.adapters, builtin: BUILTIN_ADAPTERS };
  const studio = await createStudio({
    engine,
    models,
    gallery,
    adapters,
    version: build.version,
    maxWaiting: options.maxWaiting,
    journalPath: options.journalPath,
    expandPrompt: (call) => expandOne(expander, call),
    onFailure: (job, error) => logFailure(log, job, error),
    onJobEnd: () => idle.touch(),
    onAbandoned: (job, why) => log.error({ job, why }, "a job of the durable queue is given up"),
  });
  const parts: EaselParts = {
    engine,
    studio,
    expander,
    models,
    pulls,
    gallery,
    adapters,
    hasKeys: (options.apiKeys?.length ?? 0) > 0,
    build,
    onEngineUse: () => idle.touch(),
    log,
  };
  const server = await openServer(options, parts);
  return {
    listen: (where) => server.listen(where),
    async close(deadlineMs = CLOSE_DEADLINE_MS) {
      idle.stop();
      pulls.close();
      await Promise.all([studio.close(deadlineMs), server.close(deadlineMs + LAST_WORDS_MS)]);
      await expander.close();
      await engine.close();
    },
  };
}

function openServer(options: EaselOptions, parts: EaselParts) {
  const { cors, trustProxy, apiKeys, streamLimits } = options;
  return createServer({
    name: "easel",
    title: "easel: image generation",
    version: parts.build.version,
    errors,
    log: options.log,
    routes: [
      ...generateRoutes(parts),
      ...expandRoutes(parts),
      ...modelRoutes(parts),
      ...jobRoutes(parts),
      ...galleryRoutes(parts),
      ...statusRoutes(parts),
      ...openAiRoutes(parts),
    ],
    docs: { page: "/api/docs", document: "/api/openapi.json" },
    exposedHeaders: EXPOSED_HEADERS,
    rateLimit: options.rateLimit,
    ...(cors && { cors }),
    ...(trustProxy !== undefined && { trustProxy }),
    ...(apiKeys && { apiKeys }),
    ...(streamLimits && { streamLimits }),
    ...(existsSync(join(WEB_PAGE, "index.html")) && { pages: { directory: WEB_PAGE } }),
  });
}

const EXPOSED_HEADERS = [
  "x-service-seed-used",
  "x-service-model",
  "x-service-generation-ms",
  "x-service-image-count",
  "x-service-job-id",
  "x-service-warning",
  "x-service-prompt",
  "link",
];

async function expandOne(expander: Expander, { prompt, model, seed, signal }: ExpandCall): Promise<string> {
  const [expanded] = await expander.expand({ prompt, family: model.family, variations: 1, seed, signal });
  return expanded!;
}

/** The folder is looked at again and again; each thing wrong in it is said once. */
function createProblemLog(log: Logger): (path: string, why: string) => void {
  const said = new Set<string>();
  return (path, why) => {
    if (said.has(path + why)) return;
    said.add(path + why);
    log.warn({ path, why }, "a local model cannot be used");
  };
}

function logFailure(log: Logger, job: string, error: unknown): void {
  const { code, message, status } = explainFailure(error);
  if (status >= 500) log.error({ job, code, err: error }, "job failed");
  else log.info({ job, code, message }, "job ended early");
}
