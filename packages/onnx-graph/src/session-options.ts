import type { BuiltGraph } from "./graph-builder.js";
import type { GraphOptions } from "./graph-options.js";

/** The part of onnxruntime's session options that a graph needs; spread it into `InferenceSession.create`'s second argument. */
export interface SessionOptions {
  readonly executionProviders: readonly string[];
  readonly graphOptimizationLevel: "disabled" | "basic" | "all";
  readonly enableCpuMemArena: boolean;
  readonly enableMemPattern: boolean;
  readonly intraOpNumThreads: number;
  readonly extra: { readonly session: Readonly<Record<string, string>> };
}

/**
 * How to create a session for a graph, from what was measured (bench/engine):
 * level "basic" folds conversions into the weights. Higher ones find nothing more on a CPU, where graphs are written as its kernels like them,
 * but take several times as long and twice the memory to load (on x64 they reorder all filters). "cast" graphs must not be folded, so they run as they were written.
 */
export function recommendedSessionOptions(graph: BuiltGraph, options: GraphOptions, threads: number): SessionOptions {
  // inner values can only be handed out where the optimiser has not fused them away
  const fold = options.weights === "fold" && options.taps === undefined;
  return {
    executionProviders: options.target === "cpu" ? ["cpu"] : [options.target, "cpu"],
    graphOptimizationLevel: fold ? (options.target === "cpu" ? "basic" : "all") : "disabled",
    enableCpuMemArena: false,
    enableMemPattern: false,
    intraOpNumThreads: threads,
    extra: {
      session: {
        model_external_initializers_file_folder_path: graph.externalFolder,
        "intra_op.allow_spinning": "0",
        ...(fold ? {} : { disable_prepacking: "1" }),
      },
    },
  };
}

/**
 * Environment variables for the process that runs sessions. glibc then asks for large pages and keeps what it is given back instead of returning it
 * to the system: gigabytes of weights and feature maps are not touched for the first time again in every call, which saves about a tenth of it.
 * Other systems ignore it; what the user has set is kept.
 */
export function recommendedEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    GLIBC_TUNABLES: `glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=${KEPT_BYTES}:glibc.malloc.trim_threshold=${KEPT_BYTES}`,
    ...environment,
  };
}

/** Larger pieces than any feature map go back at once. */
const KEPT_BYTES = 2 ** 32;
