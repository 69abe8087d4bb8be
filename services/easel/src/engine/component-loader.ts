/**
 * Loads components in two halves: first the weights that have to be computed, on threads of their own, then the session.
 * The first half of a component that will be needed soon can run while something else does.
 */
import { rmSync } from "node:fs";
import { type AdaptedComponent, mergeAdapters, type ScaledAdapter } from "@kit/diffusion";
import { type BuiltGraph, computeWeights, type GraphOptions } from "@kit/onnx-graph";
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

/** A graph whose computed weights lie ready in a file. */
interface ReadyGraph {
  readonly graph: BuiltGraph;
  readonly computedFile: string;
}

export function createComponentLoader(context: PipelineContext): ComponentLoader {
  const prepared = new Map<string, Promise<ReadyGraph>>();
  return {
    prepare(request) {
      const ready = computeComponent(request, context);
      ready.catch(() => undefined);
      prepared.set(request.key, ready);
    },
    async load(request) {
      const { plan, options } = request;
      const started = performance.now();
      const stage = `loading ${plan.name}`;
      context.report({ type: "stage_start", name: stage });
      context.report({ type: "weight_load", component: plan.name, bytesLoaded: 0, bytesTotal: plan.storedBytes });
      const pending = prepared.get(request.key) ?? computeComponent(request, context);
      prepared.delete(request.key);
      const { graph, computedFile } = await pending;
      try {
        const session = await createRuntimeSession(graph, options, context.settings.threads);
        const bytes = plan.storedBytes;
        context.report({ type: "weight_load", component: plan.name, bytesLoaded: bytes, bytesTotal: bytes });
        context.report({ type: "stage_done", name: stage, elapsedMs: performance.now() - started });
        return session;
      } finally {
        // a session that was created has mapped it by now
        rmSync(computedFile, { force: true });
      }
    },
    close() {
      for (const ready of prepared.values()) {
        ready.then(
          ({ computedFile }) => rmSync(computedFile, { force: true }),
          () => undefined,
        );
      }
      prepared.clear();
    },
  };
}

async function computeComponent(
  { plan, options, adapters, component }: LoadRequest,
  { settings, multiply }: PipelineContext,
): Promise<ReadyGraph> {
  const merged = component && adapters.length > 0 ? await mergeAdapters(adapters, component, multiply) : [];
  const source = merged.length > 0 ? overlaySource(plan.source, merged) : plan.source;
  const computedFile = nameScratchFile(plan.floatBytes, settings.scratchFolder);
  try {
    const graph = plan.build(source, { ...options, computedFile });
    await computeWeights(graph.work, settings.threads);
    return { graph, computedFile };
  } catch (error) {
    rmSync(computedFile, { force: true });
    throw error;
  }
}
