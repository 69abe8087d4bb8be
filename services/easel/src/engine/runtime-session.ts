/** onnxruntime behind the pipelines' Session interface. Only this folder knows it. */
import type { Feeds, FloatTensor, Session } from "@kit/diffusion";
import { type BuiltGraph, GraphBuilder, type GraphOptions, recommendedSessionOptions } from "@kit/onnx-graph";
import { sourceOf } from "@kit/tensor-files";
import ort from "onnxruntime-node";

export interface RuntimeSession extends Session {
  /** gives the memory back; the session is unusable afterwards */
  release(): Promise<void>;
}

/** Creation and runs block this process's event loop: that is why the engine is a process of its own. */
export async function createRuntimeSession(
  graph: BuiltGraph,
  options: GraphOptions,
  threads: number,
): Promise<RuntimeSession> {
  const session = await ort.InferenceSession.create(graph.proto, {
    ...recommendedSessionOptions(graph, options, threads),
    logSeverityLevel: 3,
  });
  return { run: (feeds) => runSession(session, feeds), release: () => session.release() };
}

async function runSession(session: ort.InferenceSession, feeds: Feeds): Promise<Readonly<Record<string, FloatTensor>>> {
  const inputs: Record<string, ort.Tensor> = {};
  for (const [name, { type, data, dims }] of Object.entries(feeds)) inputs[name] = new ort.Tensor(type, data, dims);
  const outputs = await session.run(inputs);
  const results: Record<string, FloatTensor> = {};
  for (const [name, tensor] of Object.entries(outputs)) {
    if (!(tensor.data instanceof Float32Array)) throw new Error(`output "${name}" is ${tensor.type}, not float32`);
    results[name] = { type: "float32", dims: tensor.dims, data: tensor.data };
  }
  return results;
}

/** A matrix product as a session of one node: proves that a backend works, and merges adapters fast. */
export async function createProductSession(options: GraphOptions, threads: number): Promise<RuntimeSession> {
  const graph = new GraphBuilder("product", sourceOf("memory", []), { ...options, compute: "fp32" });
  const a = graph.input("a", "float32", ["rows", "inner"]);
  const b = graph.input("b", "float32", ["inner", "columns"]);
  graph.output("product", graph.node("MatMul", [a, b]), ["rows", "columns"]);
  return createRuntimeSession(graph.build(), options, threads);
}

export async function multiplyMatrices(
  session: Session,
  a: Float32Array,
  b: Float32Array,
  [rows, inner, columns]: readonly [number, number, number],
): Promise<Float32Array> {
  const outputs = await session.run({
    a: { type: "float32", dims: [rows, inner], data: a },
    b: { type: "float32", dims: [inner, columns], data: b },
  });
  return outputs["product"]!.data;
}
