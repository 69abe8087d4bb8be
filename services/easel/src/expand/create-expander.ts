/** Chooses the language model the settings ask for and puts the rules, the time limit and the error types around it. */
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { SettingValues } from "@kit/command-line";
import { ExpandError } from "./expand-error.js";
import { expandPrompt } from "./expand-prompt.js";
import type { Expander, ExpandOrder } from "./expander.js";
import type { LanguageModel } from "./language-model.js";
import { createLocalModel } from "./local-model.js";
import { type MemoryBudget, unlimitedMemory } from "./memory-budget.js";
import { createOpenAiModel } from "./openai-model.js";
import type { expandSettings } from "./settings.js";
import { readTemplates, templateFor } from "./templates.js";

export type ExpandSettings = SettingValues<typeof expandSettings>;

export interface ExpanderOptions {
  readonly settings: ExpandSettings;
  /** the configuration's table `expand.templates` */
  readonly templates?: unknown;
  readonly budget?: MemoryBudget;
  /** file of a pulled language model by its name; throws what the user should read when there is none */
  readonly locateModel?: (name: string) => Promise<{ readonly name: string; readonly path: string }>;
  /** for seeds nobody gave */
  readonly randomSeed?: () => number;
}

/** Part of the catalogue as `expander:q8`, and what is used when nothing is set. */
export const BUILT_IN_NAME = "expander:q8";
export const BUILT_IN_FILE = fileURLToPath(new URL("../../../../models/expander/expander-q8_0.gguf", import.meta.url));
const ENDPOINT_DEFAULT_MODEL = "default";
/** Our own model is too small to be shared out: on a busy machine its threads would wait for each other longer than they work. */
const BUILT_IN_THREADS = 1;
/** Larger ones share the machine with the engine. */
const MOST_THREADS = 4;

export function createExpander(options: ExpanderOptions): Expander {
  const { settings } = options;
  const templates = readTemplates(options.templates);
  const randomSeed = options.randomSeed ?? (() => randomInt(2 ** 32));
  const chosen = chooseModel(options);
  let model: LanguageModel | undefined;

  async function expand({ prompt, family, variations, seed, signal }: ExpandOrder): Promise<string[]> {
    const limit = AbortSignal.timeout(settings.expandTimeout);
    const both = signal ? AbortSignal.any([signal, limit]) : limit;
    try {
      model ??= await chosen.open();
      const wanted = { prompt, template: templateFor(templates, family), variations, seed: seed ?? randomSeed() };
      return await expandPrompt(model, wanted, both);
    } catch (error) {
      if (error instanceof ExpandError) throw error;
      if (signal?.aborted) throw new ExpandError("CANCELLED", "The expansion was cancelled.", { cause: error });
      if (limit.aborted) throw tooSlow(chosen.name, settings.expandTimeout);
      throw error;
    }
  }

  const release = async () => {
    await model?.close();
  };
  return { name: chosen.name, expand, release, close: release };
}

interface Chosen {
  readonly name: string;
  readonly open: () => Promise<LanguageModel>;
}

function chooseModel({ settings, budget, locateModel }: ExpanderOptions): Chosen {
  const { expandUrl: url, expandKey: key, expandModel: wanted } = settings;
  if (url !== undefined) {
    if (!/^https?:\/\/[^\s/]/.test(url) || !URL.canParse(url))
      throw new ExpandError(
        "VALIDATION_ERROR",
        `SERVICE_EXPAND_URL must be an http or https address (given: ${JSON.stringify(url)})`,
      );
    const remote = createOpenAiModel({
      url,
      model: wanted ?? ENDPOINT_DEFAULT_MODEL,
      retries: settings.expandRetries,
      ...(key !== undefined && { key }),
    });
    return { name: remote.name, open: async () => remote };
  }
  const open = async () => {
    const { name, path } = await locate(wanted, locateModel);
    return createLocalModel({
      name,
      path,
      gpu: settings.expandGpu,
      threads: path === BUILT_IN_FILE ? BUILT_IN_THREADS : Math.min(MOST_THREADS, availableParallelism()),
      idleMs: settings.expandIdle,
      budget: budget ?? unlimitedMemory,
    });
  };
  return { name: wanted ?? BUILT_IN_NAME, open };
}

async function locate(
  wanted: string | undefined,
  locateModel: ExpanderOptions["locateModel"],
): Promise<{ name: string; path: string }> {
  if (wanted === undefined || wanted === BUILT_IN_NAME) return { name: BUILT_IN_NAME, path: BUILT_IN_FILE };
  if (wanted.endsWith(".gguf")) {
    if (existsSync(wanted)) return { name: wanted, path: wanted };
    throw new ExpandError("EXPANSION_FAILED", `SERVICE_EXPAND_MODEL names ${wanted}, and there is no such file.`);
  }
  if (!locateModel)
    throw new ExpandError(
      "EXPANSION_FAILED",
      `SERVICE_EXPAND_MODEL '${wanted}' is no .gguf file, and no models are known here.`,
    );
  return locateModel(wanted);
}

const tooSlow = (name: string, timeout: number): ExpandError =>
  new ExpandError(
    "EXPANSION_FAILED",
    `The language model '${name}' did not finish within ${timeout / 1000} s (SERVICE_EXPAND_TIMEOUT).`,
  );
