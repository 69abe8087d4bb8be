/** What the engine process does: one call at a time on models kept under the memory budget. */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  continueEdges,
  countImageSteps,
  type DiffusionModel,
  drawPreview,
  fitPreviewMap,
  type GenerateHooks,
  generateImages,
  offsetSeed,
  type Pixels,
  type PreviewMap,
} from "@kit/diffusion";
import { type ComponentStore, createComponentStore } from "./component-store.js";
import { EngineError, type EngineJob, type EngineProgress, type EngineResult, type ModelFiles } from "./engine-api.js";
import type { ProcessSettings } from "./engine-protocol.js";
import { describePlan, isSameSize, planSizes, resizeImages, type SizePlan, shrinkInputs } from "./fit-native-size.js";
import { fingerprintModel, type OpenedModel, openModel } from "./opened-model.js";
import { createPipelineModel, type PipelineContext } from "./pipeline-model.js";
import { createProductSession, multiplyMatrices, type RuntimeSession } from "./runtime-session.js";
import { removeStaleScratch } from "./scratch-file.js";

export interface CallContext {
  report(progress: EngineProgress): void;
  isCancelled(): boolean;
}

export interface EngineWorker {
  generate(job: EngineJob, call: CallContext): Promise<EngineResult>;
  /** loads what a picture of the model's own size needs; gives the milliseconds it took */
  load(model: ModelFiles, call: CallContext): Promise<number>;
  unload(name: string | undefined): Promise<readonly string[]>;
}

/** Opened headers are a few MB each; more models than this are rarely alternated. */
const MAX_OPENED_MODELS = 8;
/** Side of the pictures a model is made ready for when nothing says how large they will be. */
const DEFAULT_SIDE = 512;

export function createEngineWorker(settings: ProcessSettings, onModels: (names: string[]) => void): EngineWorker {
  removeStaleScratch(settings.scratchFolder);
  const store: ComponentStore = createComponentStore(settings.memoryBudgetBytes, () => onModels(store.modelNames()));
  const opened = new Map<string, OpenedModel>();
  const previewMaps = new Map<string, PreviewMap>();
  let productSession: Promise<RuntimeSession> | undefined;

  const multiply = async (a: Float32Array, b: Float32Array, rows: number, inner: number, columns: number) => {
    const cpu = { target: "cpu", compute: "fp32", weights: "fold" } as const;
    productSession ??= createProductSession(cpu, settings.threads);
    return multiplyMatrices(await productSession, a, b, [rows, inner, columns]);
  };

  const open = async (files: ModelFiles) => {
    const fingerprint = await fingerprintModel(files);
    const model = opened.get(fingerprint) ?? (await openModel(files, settings.tokenizerFolder));
    opened.delete(fingerprint);
    opened.set(fingerprint, model);
    if (opened.size > MAX_OPENED_MODELS) opened.delete(opened.keys().next().value!);
    return { model, fingerprint };
  };

  const prepare = async (
    files: ModelFiles,
    adapters: EngineJob["adapters"],
    pictures: Pick<PipelineContext, "area" | "sidesAreMultiplesOf">,
    call: CallContext,
  ) => {
    const { model, fingerprint } = await open(files);
    const context = { settings, store, multiply, ...pictures, report: call.report };
    return { model, fingerprint, ...(await createPipelineModel(model, adapters, fingerprint, context)) };
  };

  const draw = async (
    job: EngineJob,
    plan: SizePlan,
    prepared: Awaited<ReturnType<typeof prepare>>,
    call: CallContext,
    started: number,
  ): Promise<EngineResult> => {
    const { model, fingerprint, pipeline } = prepared;
    const warnings = [...prepared.warnings];
    if (model.scheduler.note) call.report({ type: "info", message: model.scheduler.note });
    const { drawn, canvas } = plan;
    warnings.push(...describePlan(job, plan));
    warnings.push(...warnOfForeignSize(model, drawn));
    let previewMap: PreviewMap | undefined;
    if (job.preview && countImageSteps(job.steps, job.image ? (job.strength ?? 1) : 1) > 0) {
      previewMap = previewMaps.get(fingerprint) ?? (await fitPreviewMap(pipeline.vae));
      previewMaps.set(fingerprint, previewMap);
    }
    prepared.prepareUnet();
    const hooks = createHooks(call, settings, previewMap);
    const request = { ...job, ...shrinkInputs(job, drawn), width: drawn.width, height: drawn.height };
    const generated = await generateImages(pipeline, request, hooks);
    warnings.push(...generated.warnings);
    let { images } = generated;
    if (!isSameSize(drawn, canvas)) {
      images = await hooks.stage("continuing edges", async () => {
        const continued: Pixels[] = [];
        for (const [index, image] of images.entries()) {
          const request = { canvas, steps: job.steps, seed: offsetSeed(job.seed, index) };
          continued.push(await continueEdges(pipeline, image, request, hooks));
        }
        return continued;
      });
    }
    if (!isSameSize(canvas, job)) {
      images = await hooks.stage("enlarging", () => resizeImages(images, job, pipeline.upscaler));
    }
    return { images, warnings, elapsedMs: performance.now() - started };
  };

  return {
    async generate(job, call) {
      const started = performance.now();
      const factor = (await open(job.model)).model.vae.config.factor;
      const plan = planSizes(job, factor);
      const sides = [plan.drawn.width, plan.drawn.height, plan.canvas.width, plan.canvas.height];
      const pictures = {
        area: plan.canvas.width * plan.canvas.height,
        sidesAreMultiplesOf: (pixels: number) => sides.every((side) => side % pixels === 0),
      };
      const prepared = await prepare(job.model, job.adapters, pictures, call);
      try {
        return await draw(job, plan, prepared, call, started);
      } finally {
        prepared.close();
      }
    },

    async load(files, call) {
      const started = performance.now();
      const area = Math.min(files.nativeArea ?? Number.POSITIVE_INFINITY, DEFAULT_SIDE ** 2);
      // most pictures are such
      const { pipeline } = await prepare(files, [], { area, sidesAreMultiplesOf: () => true }, call);
      await openAll(pipeline, call);
      return performance.now() - started;
    },

    async unload(name) {
      const before = store.modelNames();
      await store.drop(name);
      for (const [fingerprint, model] of opened) {
        if (name === undefined || model.files.name === name) {
          opened.delete(fingerprint);
          previewMaps.delete(fingerprint);
        }
      }
      return before.filter((model) => !store.modelNames().includes(model));
    },
  };
}

/** Areas beyond this multiple of the trained one, or below its inverse, show: subjects repeat, or lose their parts. */
const FAR_FROM_TRAINED = 4;

function warnOfForeignSize(model: OpenedModel, drawn: { readonly width: number; readonly height: number }): string[] {
  const { sampleSize } = model.checkpoint.unet.config;
  if (sampleSize === undefined) return [];
  const side = sampleSize * model.vae.config.factor;
  const share = (drawn.width * drawn.height) / side ** 2;
  if (share <= FAR_FROM_TRAINED && share >= 1 / FAR_FROM_TRAINED) return [];
  return [
    `${drawn.width}x${drawn.height} is far from the ${side}x${side} this model was trained on; the picture may suffer`,
  ];
}

/** In the order a picture uses them, so that under a tight budget the ones used last stay. */
async function openAll(pipeline: DiffusionModel, call: CallContext): Promise<void> {
  const openers = [
    ...pipeline.textEncoders.map((encoder) => () => encoder.open()),
    () => pipeline.vae.openDecoder(),
    () => pipeline.unet.open(),
  ];
  for (const openComponent of openers) {
    await nextTurn();
    throwIfCancelled(call);
    await openComponent();
  }
}

function createHooks(call: CallContext, settings: ProcessSettings, previewMap: PreviewMap | undefined): GenerateHooks {
  let firstStepAt = 0;
  return {
    batchGuidance: settings.backend !== "cpu",
    checkCancelled: () => throwIfCancelled(call),
    async stage(name, work) {
      const started = performance.now();
      if (name === "denoising") firstStepAt = started;
      call.report({ type: "stage_start", name });
      const result = await work();
      call.report({ type: "stage_done", name, elapsedMs: performance.now() - started });
      return result;
    },
    async onStep(image, { step, total, estimate }) {
      call.report({ type: "denoise_step", step, total, image, elapsedMs: performance.now() - firstStepAt });
      if (previewMap) call.report({ type: "preview", step, pixels: drawPreview(estimate(), previewMap) });
      // messages are read only between turns of the event loop, and a step blocks it
      await nextTurn();
      throwIfCancelled(call);
    },
  };
}

function throwIfCancelled(call: CallContext): void {
  if (call.isCancelled()) throw new EngineError("CANCELLED", "the job was cancelled");
}
