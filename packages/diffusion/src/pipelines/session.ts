/** What pipelines know of a runtime: named tensors in, named tensors out. The engine puts onnxruntime behind it. */
export interface FloatTensor {
  readonly type: "float32";
  readonly dims: readonly number[];
  readonly data: Float32Array;
}

export interface IntTensor {
  readonly type: "int32";
  readonly dims: readonly number[];
  readonly data: Int32Array;
}

export type Feeds = Readonly<Record<string, FloatTensor | IntTensor>>;

export interface Session {
  /** all outputs are handed back as float32 */
  run(feeds: Feeds): Promise<Readonly<Record<string, FloatTensor>>>;
}

export function floats(dims: readonly number[], data: Float32Array): FloatTensor {
  return { type: "float32", dims, data };
}

/** An output that the graph is known to have. */
export function pickOutput(outputs: Readonly<Record<string, FloatTensor>>, name: string): FloatTensor {
  const output = outputs[name];
  if (!output) throw new Error(`the graph gave no output "${name}", only ${Object.keys(outputs).join(", ")}`);
  return output;
}
