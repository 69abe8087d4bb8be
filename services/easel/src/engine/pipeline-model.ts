/** An opened model with adapters as the pipelines see it: components are fetched from the store, or loaded, when they are opened. */
import { basename } from "node:path";
import type { AdaptedComponent, Adapter, DiffusionModel, MatrixProduct, ScaledAdapter, Session } from "@kit/diffusion";
import { readAdapter } from "@kit/diffusion";
import type { FilterBlock, GraphOptions } from "@kit/onnx-graph";
import { createComponentLoader, type LoadRequest } from "./component-loader.js";
import type { ComponentRequest, ComponentStore } from "./component-store.js";
import { type AdapterUse, EngineError, type EngineProgress } from "./engine-api.js";
import type { ProcessSettings } from "./engine-protocol.js";
import { estimateMemory, estimateResident } from "./estimate-memory.js";
import { findFilterBlock } from "./find-filter-block.js";
import type { ComponentName, ComponentPlan } from "./model-components.js";
import type { OpenedModel } from "./opened-model.js";

export interface PipelineContext {
  readonly settings: ProcessSettings;
  readonly store: ComponentStore;
  readonly multiply: MatrixProduct;
  /** pixel area of the pictures to come, for the estimate of working memory */
  readonly area: number;
  /** whether the sides of all pictures to come are multiples of this */
  sidesAreMultiplesOf(pixels: number): boolean;
  report(progress: EngineProgress): void;
}

const ADAPTED: Readonly<Partial<Record<ComponentName, AdaptedComponent>>> = {
  unet: "unet",
  text_encoder: "textEncoder",
  text_encoder_2: "textEncoder2",
};

export interface PreparedModel {
  readonly pipeline: DiffusionModel;
  /** layers of adapters that this model has not */
  readonly warnings: readonly string[];
  /** starts on the UNet's weights while the prompt is encoded, where there is room for both */
  prepareUnet(): void;
  /** ends what was prepared in vain */
  close(): void;
}

export async function createPipelineModel(
  model: OpenedModel,
  adapters: readonly AdapterUse[],
  fingerprint: string,
  context: PipelineContext,
): Promise<PreparedModel> {
  const all = [...(model.files.builtInAdapters ?? []), ...adapters].filter(({ scale }) => scale !== 0);
  const matched: ScaledAdapter[] = [];
  const warnings: string[] = [];
  for (const { path, scale } of all) {
    const adapter = await openAdapter(path);
    const layers = model.matchAdapter(adapter);
    matched.push({ layers, scale });
    const ignored = adapter.layers.length - layers.length;
    if (ignored > 0)
      warnings.push(`${basename(path)}: ${ignored} of its ${adapter.layers.length} layers are not in this model`);
  }

  const filterBlock = context.settings.backend === "cpu" ? await findFilterBlock() : undefined;
  const loader = createComponentLoader(context);
  const describe = (plan: ComponentPlan): ComponentRequest & LoadRequest => {
    const component = ADAPTED[plan.name];
    const touching = matched.map(({ layers }) => layers.some((layer) => layer.component === component));
    // adapters that leave a component alone must not make a second copy of it
    const used = component ? all.filter((_, i) => touching[i]) : [];
    const options = chooseGraphOptions(model, plan, context, filterBlock);
    const request = {
      key: JSON.stringify([fingerprint, plan.name, options, used]),
      plan,
      options,
      adapters: used.length > 0 ? matched : [],
      component,
    };
    return {
      ...request,
      model: model.files.name,
      label: `${plan.name} of ${model.files.name}`,
      ...estimateMemory(model, plan, options, context.area),
      create: () => loader.load(request),
    };
  };
  const open = (plan: ComponentPlan): Promise<Session> => context.store.acquire(describe(plan));
  const { upscaler } = model;
  const pipeline: DiffusionModel = {
    scheduler: model.scheduler,
    upscaler: upscaler && { scale: upscaler.scale, open: () => open(upscaler.plan) },
    zerosForEmptyPrompt: model.checkpoint.modelIndex["force_zeros_for_empty_prompt"] === true,
    textEncoders: model.textEncoders.map(({ plan, config, tokenizer }) => ({
      tokenizer,
      hiddenSize: config.hiddenSize,
      pooledSize: plan.name === "text_encoder_2" ? (config.projection ?? config.hiddenSize) : undefined,
      open: () => open(plan),
    })),
    unet: {
      inChannels: model.checkpoint.unet.config.inChannels,
      outChannels: model.checkpoint.unet.config.outChannels,
      guidanceWidth: model.checkpoint.unet.config.timeCondProjDim,
      hasTextTime: model.checkpoint.unet.config.textTime !== undefined,
      open: () => open(model.unet),
    },
    vae: {
      latentChannels: model.vae.config.latentChannels,
      factor: model.vae.config.factor,
      scalingFactor: model.vae.config.scalingFactor,
      shiftFactor: model.vae.config.shiftFactor,
      openEncoder: () => open(model.vaeEncoder),
      openDecoder: () => open(model.vaeDecoder),
    },
  };
  return {
    pipeline,
    warnings,
    prepareUnet() {
      const request = describe(model.unet);
      if (!context.store.has(request.key) && request.residentBytes <= context.store.freeBytes())
        loader.prepare(request);
    },
    close: () => loader.close(),
  };
}

/** The job names the file, so whatever is wrong with it is the job's fault. */
async function openAdapter(path: string): Promise<Adapter> {
  try {
    return await readAdapter(path);
  } catch (error) {
    throw new EngineError("VALIDATION_ERROR", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Half precision on GPUs, except where a config says that it overflows; on CPUs F32, whose weights are folded while they fit easily. */
function chooseGraphOptions(
  model: OpenedModel,
  plan: ComponentPlan,
  { settings, sidesAreMultiplesOf }: PipelineContext,
  filterBlock: FilterBlock | undefined,
): GraphOptions {
  const target = settings.backend;
  const { quantisation } = model.files;
  const quantise = quantisation && ADAPTED[plan.name] !== undefined ? { quantise: quantisation } : {};
  if (target !== "cpu") return { target, compute: plan.needsFp32 ? "fp32" : "fp16", weights: "fold", ...quantise };
  const folded = (part: ComponentPlan): GraphOptions => {
    const int8 = settings.cpuMath === "int8" && takesInt8(model, part) ? { int8: true } : {};
    return { target, compute: "fp32", weights: "fold", ...int8 };
  };
  const parts = [model.unet, model.vaeDecoder, ...model.textEncoders.map((encoder) => encoder.plan)];
  const bytes = parts.reduce((sum, part) => sum + estimateResident(part, folded(part)), 0);
  const usedOnce = plan.name.startsWith("text_encoder") && plan.floatBytes > LARGE_BYTES;
  const cpu = { ...folded(plan), ...quantise };
  if (bytes > settings.memoryBudgetBytes || usedOnce) return { ...cpu, weights: "cast" };
  const even = plan.name === "unet" && sidesAreMultiplesOf(pixelsOfDeepestCell(model));
  return { ...cpu, ...(filterBlock ? { filterBlock } : {}), ...(even ? { evenSides: true } : {}) };
}

/** Pixels along a side that become one cell in the middle of the UNet, after the VAE and every level have shrunk them. */
function pixelsOfDeepestCell({ checkpoint, vae }: OpenedModel): number {
  return vae.config.factor * 2 ** (checkpoint.unet.config.upBlocks.length - 1);
}

/** The nets that take the time. Text encoders and small autoencoders take little, and rounding shows more in them. */
function takesInt8(model: OpenedModel, { name }: ComponentPlan): boolean {
  return name === "unet" || (name.startsWith("vae_") && model.vae.config.kind === "kl");
}

/** A large text encoder runs once or twice a job: folding its weights would take longer than all its calls save. */
const LARGE_BYTES = 256 * 2 ** 20;
