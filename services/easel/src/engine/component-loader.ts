/**
 * Loads components in two halves: the weights that have to be computed, on threads of their own, and the session.
 * The first half of a component that will be needed soon can begin while something else runs; it goes on beside the second where that does not read its results.
 */
import { type AdaptedComponent, mergeAdapters, type ScaledAdapter } from "@kit/diffusion";
import {
  type BuiltGraph,
  type GraphOptions,
  needsComputedWeights,
  removeComputedFiles,
  startWeights,
  type WeightComputation,
} from "@kit/onnx-graph";
import { overlaySource } from "@kit/tensor-files";
import type { ComponentPlan } from "./model-components.js";
import type { PipelineContext } from "./pipeline-model.js";
import { createRuntimeSession, type RuntimeSession } from "./runtime-session.js";
import { nameScratchFile } from "./scratch-file.js";

export interface LoadRequest {
  /** equal keys mean the same session */
  readonly key: string;
  readonly plan: ComponentPlan;
  readonly options: GraphOptions;
  /** those that change this component */
  readonly adapters: readonly ScaledAdapter[];
  readonly component: AdaptedComponent | undefined;
}

export interface ComponentLoader {
  /** starts the first half; what goes wrong is told by `load` */
  prepare(request: LoadRequest): void;
  load(request: LoadRequest): Promise<RuntimeSession>;
  /** gives up what was prepared and never loaded */
  close(): void;
}

/** A graph whose weights are being computed into a file. */
interface StartedGraph {
  readonly graph: BuiltGraph;
  readonly computedFile: string;
  readonly weights: WeightComputation;
}

export function createComponentLoader(context: PipelineContext): ComponentLoader {
  const prepared = new Map<string, Promise<StartedGraph>>();
  return {
    prepare(request) {
      const started = startComponent(request, context);
      started.catch(() => undefined);
      prepared.set(request.key, started);
    },
    async load(request) {
      const { plan, options } = request;
      const began = performance.now();
      const stage = `loading ${plan.name}`;
      context.report({ type: "stage_start", name: stage });
      context.report({ type: "weight_load", component: plan.name, bytesLoaded: 0, bytesTotal: plan.storedBytes });
      const pending = prepared.get(request.key) ?? startComponent(request, context);
      prepared.delete(request.key);
      const session = await finishComponent(await pending, options, context.settings.threads);
      const bytes = plan.storedBytes;
      context.report({ type: "weight_load", component: plan.name, bytesLoaded: bytes, bytesTotal: bytes });
      context.report({ type: "stage_done", name: stage, elapsedMs: performance.now() - began });
      return session;
    },
    close() {
      for (const started of prepared.values()) started.then(removeComputed, () => undefined);
      prepared.clear();
    },
  };
}

/** Builds the graph and sets threads to work on its weights. */
async function startComponent(
  { plan, options, adapters, component }: LoadRequest,
  { settings, multiply }: PipelineContext,
): Promise<StartedGraph> {
  const merged = component && adapters.length > 0 ? await mergeAdapters(adapters, component, multiply) : [];
  const source = merged.length > 0 ? overlaySource(plan.source, merged) : plan.source;
  const computedFile = nameScratchFile(plan.floatBytes, settings.scratchFolder);
  try {
    const graph = plan.build(source, { ...options, computedFile });
    // this thread creates the session beside them, which takes as long: it needs a core of its own
    const threads = needsComputedWeights(graph.work) ? settings.threads : Math.max(1, settings.threads - 1);
    return { graph, computedFile, weights: startWeights(graph.work, threads) };
  } catch (error) {
    removeComputedFiles(computedFile);
    throw error;
  }
}

/** Creates the session, beside the threads where it only maps what they write. */
async function finishComponent(started: StartedGraph, options: GraphOptions, threads: number): Promise<RuntimeSession> {
  const { graph, weights } = started;
  try {
    if (needsComputedWeights(graph.work)) await weights.done;
    const session = await createRuntimeSession(graph, options, threads);
    try {
      await weights.finish();
    } catch (error) {
      await session.release();
      throw error;
    }
    return session;
  } finally {
    // a session that was created has mapped it by now
    await removeComputed(started);
  }
}

async function removeComputed({ computedFile, weights }: StartedGraph): Promise<void> {
  // threads open it by its name
  await weights.done.catch(() => undefined);
  removeComputedFiles(computedFile);
}
