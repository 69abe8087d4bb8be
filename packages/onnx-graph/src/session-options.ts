import type { BuiltGraph } from "./graph-builder.js";
import type { GraphOptions } from "./graph-options.js";

/** The part of onnxruntime's session options that a graph needs; spread it into `InferenceSession.create`'s second argument. */
export interface SessionOptions {
  readonly executionProviders: readonly string[];
  readonly graphOptimizationLevel: "disabled" | "all";
  readonly enableCpuMemArena: boolean;
  readonly enableMemPattern: boolean;
  readonly intraOpNumThreads: number;
  readonly extra: { readonly session: Readonly<Record<string, string>> };
}

/**
 * How to create a session for a graph, from what was measured (bench/engine):
 * level "all" folds conversions into the weights and, on x64, turns convolutions to the blocked layout;
 * "cast" graphs must not be folded, so they run as they were written.
 */
export function recommendedSessionOptions(graph: BuiltGraph, options: GraphOptions, threads: number): SessionOptions {
  // inner values can only be handed out where the optimiser has not fused them away
  const fold = options.weights === "fold" && options.taps === undefined;
  return {
    executionProviders: options.target === "cpu" ? ["cpu"] : [options.target, "cpu"],
    graphOptimizationLevel: fold ? "all" : "disabled",
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
 * Environment variables for the process that runs sessions. glibc then asks for large pages, which halves the time of creating a session
 * (gigabytes of weights are touched for the first time). Other systems ignore it; what the user has set is kept.
 */
export function recommendedEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1", ...environment };
}
