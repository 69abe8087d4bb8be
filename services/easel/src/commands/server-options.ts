/** How the settings' values become the server's parts. Apart from the rows, so that `easel --help` does not load the server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandContext, SettingValues } from "@kit/command-line";
import { type Logger, parseCors, parseRateLimit, parseTrustProxy, SettingError } from "@kit/http-kernel";
import { createEngine } from "../engine/engine-host.js";
import type { EngineOptions } from "../engine/engine-options.js";
import { createExpander } from "../expand/create-expander.js";
import { ExpandError } from "../expand/expand-error.js";
import { createMemoryBudget } from "../expand/memory-budget.js";
import { TEMPLATES_TABLE } from "../expand/settings.js";
import type { EaselOptions } from "../http/create-easel.js";
import { TOKENIZER_FOLDER } from "../models/catalogue/parts.js";
import type { ModelStore } from "../models/model-store.js";
import type { serveSettings, studioSettings } from "./serve-settings.js";
import { modelsFolderOf } from "./storage-settings.js";

type Context = Pick<CommandContext, "folders" | "file">;

/** Everything but the network side. */
export async function studioOptions(
  settings: SettingValues<typeof studioSettings>,
  { folders, file }: Context,
  log: Logger,
  warn = (message: string): void => log.warn(message),
): Promise<Omit<EaselOptions, "maxWaiting">> {
  const modelsFolder = modelsFolderOf(settings.modelsDir, folders);
  const engine = await createEngine({ ...engineOptions(settings, modelsFolder), onNotice: warn });
  const output = settings.outputDir ?? join(folders.data, "output");
  return {
    engine,
    createExpander: (models) =>
      createExpander({
        settings,
        templates: file?.values.get(TEMPLATES_TABLE),
        budget: createMemoryBudget({ engine, budgetBytes: settings.memoryBudget }),
        locateModel: (name) => locateLanguageModel(models, name),
      }),
    log,
    modelsFolder,
    defaultModel: settings.model,
    adapters: { directory: settings.adaptersDir ?? join(folders.data, "adapters"), roots: settings.adapterRoots },
    outputDirectory: output === "" ? undefined : output,
    cacheDirectory: folders.cache,
    hub: { endpoint: settings.hubUrl, token: settings.hubToken },
    idleUnloadMs: settings.idleUnload,
  };
}

function engineOptions(settings: SettingValues<typeof studioSettings>, modelsFolder: string): EngineOptions {
  return {
    backend: settings.backend,
    cpuMath: settings.cpuMath,
    tokenizerFolder: join(modelsFolder, TOKENIZER_FOLDER),
    ...(settings.threads !== undefined && { threads: settings.threads }),
    ...(settings.memoryBudget !== undefined && { memoryBudgetBytes: settings.memoryBudget }),
  };
}

async function locateLanguageModel(models: ModelStore, name: string): Promise<{ name: string; path: string }> {
  const model = await models.resolve(name).catch((error: Error) => {
    throw new ExpandError("EXPANSION_FAILED", `SERVICE_EXPAND_MODEL: ${error.message}`, { cause: error });
  });
  if (model.kind !== "language" || !model.downloaded) {
    const why = model.downloaded
      ? "is no language model"
      : `is not downloaded. Pull it: 'easel models pull ${model.name}'`;
    throw new ExpandError("EXPANSION_FAILED", `SERVICE_EXPAND_MODEL '${model.name}' ${why}.`);
  }
  return { name: model.name, path: model.files.path };
}

export async function serverOptions(
  settings: SettingValues<typeof serveSettings>,
  context: Context,
  log: Logger,
): Promise<EaselOptions> {
  // Checked before the engine process is started, so that a wrong flag costs nothing.
  const network = {
    cors: parseCors({ cors: settings.cors, corsOrigins: settings.corsOrigins }),
    rateLimit: parseRateLimit(settings.rateLimit, settings.rateLimitBurst),
    trustProxy: parseTrustProxy(settings.trustProxy),
    apiKeys: readKeys(settings.apiKey),
    maxWaiting: settings.maxQueue,
    journalPath: settings.durableQueue ? join(context.folders.state, "jobs.journal") : undefined,
  };
  return { ...network, ...(await studioOptions(settings, context, log)) };
}

function readKeys(given: string | undefined): string[] {
  if (given === undefined) return [];
  let words = given;
  if (given.startsWith("@")) {
    try {
      words = readFileSync(given.slice(1), "utf8");
    } catch (error) {
      throw new SettingError(`The file of keys cannot be read: ${(error as Error).message}`);
    }
  }
  const keys = words
    .split(/[,\n]/)
    .map((key) => key.trim())
    .filter((key) => key !== "");
  if (keys.length === 0) throw new SettingError("SERVICE_API_KEY is set but holds no key.");
  return keys;
}
