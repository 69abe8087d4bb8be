import {
  byteLength,
  countElements,
  describeOrigin,
  isStored,
  readTensorFloats,
  sliceRows,
  type TensorRef,
  type TensorSource,
} from "@kit/tensor-files";
import { ComputedFile, type FileRange, namePart } from "./computed-file.js";
import { codeOf, type ElementType, elementTypeOf } from "./element-type.js";
import type { GraphOptions } from "./graph-options.js";
import { ProtobufWriter } from "./protobuf-writer.js";
import { MissingTensorsError, TensorShapeError } from "./weight-errors.js";
import type { WeightWork } from "./weight-work.js";

/** A handle on one value of the graph: what operators take and give. */
export interface Value {
  readonly name: string;
  readonly type: ElementType;
}

export type Attribute =
  | number
  | string
  | readonly number[]
  | { readonly float: number }
  | { readonly floats: readonly number[] };

/** A dimension is a number, or a name for one that is known only at the call. */
export type Dimension = number | string;

export interface Port {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly Dimension[];
}

export interface BuiltGraph {
  /** the ONNX ModelProto, without the weights that lie in files */
  readonly proto: Uint8Array;
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** bytes of all weights used, in the type they are stored in */
  readonly weightBytes: number;
  /** bytes of the weights the session has to hold in its own memory: converted or computed ones */
  readonly privateBytes: number;
  /** the folder that locations of external weights are relative to */
  readonly externalFolder: "/";
  /** real path of the file computed weights are written to; it may be removed once the session exists */
  readonly computedFile: string | undefined;
  /** what has yet to be written to it before a session can run: hand it to `computeWeights` */
  readonly work: readonly WeightWork[];
}

/** An initialiser whose bytes follow later. */
export interface LaterInitialiser {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly length: number;
}

const OPSET = 21;
const BLOCKED_DOMAIN = "com.microsoft.nchwc";
const IR_VERSION = 10;
/** Computed weights above this go to `options.computedFile`, where one is given. */
const MAX_INLINE_BYTES = 1 << 16;
/** A proto ends at 2 GiB; some of it is needed for the graph itself. */
const MAX_PROTO_BYTES = 2_000_000_000;

interface Initialiser {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly data: Uint8Array | FileRange;
}

/** Collects nodes and weights of one graph; the functions in operators.ts and layers.ts say what a model is made of. */
export class GraphBuilder {
  private readonly nodes: ((writer: ProtobufWriter) => void)[] = [];
  private readonly initialisers = new Map<string, Initialiser>();
  private readonly converted = new Map<string, Value>();
  private readonly used = new Map<string, number>();
  private readonly missing = new Map<string, readonly number[]>();
  private readonly derived = new Map<string, TensorRef | undefined>();
  private readonly inputs: Port[] = [];
  private readonly outputs: Port[] = [];
  private readonly nodeNames = new Map<string, number>();
  private readonly computed: ComputedFile | undefined;
  /** those for weights that are written later, by name */
  private readonly parts = new Map<string, ComputedFile>();
  private readonly work: WeightWork[] = [];
  private privateBytes = 0;
  private inlineBytes = 0;

  constructor(
    readonly name: string,
    readonly source: TensorSource,
    readonly options: GraphOptions,
  ) {
    this.computed = options.computedFile === undefined ? undefined : new ComputedFile(options.computedFile);
  }

  get computeType(): "float32" | "float16" {
    return this.options.compute === "fp16" ? "float16" : "float32";
  }

  input(name: string, type: ElementType, shape: readonly Dimension[]): Value {
    this.inputs.push({ name, type, shape });
    return { name, type };
  }

  /** Hands a value out under a name of its own, as float32 where it is a float. */
  output(name: string, value: Value, shape: readonly Dimension[]): void {
    const type = value.type === "float16" ? "float32" : value.type;
    if (type === value.type) this.emit("Identity", [value], {}, [name]);
    else this.emit("Cast", [value], { to: codeOf(type) }, [name]);
    this.outputs.push({ name, type, shape });
  }

  /** Marks an inner value that tests (and the curious) can ask for by name through `options.taps`. */
  tap(name: string, value: Value, rank = 4): Value {
    const { taps } = this.options;
    if (taps === "all" || taps?.includes(name)) {
      const shape = Array.from({ length: rank }, (_, axis) => `${name}.${axis}`);
      this.output(name, value, shape);
    }
    return value;
  }

  /** Adds a node with one output. */
  node(op: string, inputs: readonly (Value | undefined)[], attributes: Attributes = {}, type?: ElementType): Value {
    const output = this.freshName(op);
    this.emit(op, inputs, attributes, [output]);
    return { name: output, type: type ?? inputs[0]?.type ?? this.computeType };
  }

  /** Adds a node with an output of each of these types. */
  multiNode(op: string, inputs: readonly Value[], attributes: Attributes, types: readonly ElementType[]): Value[] {
    const name = this.freshName(op);
    const outputs = types.map((type, index) => ({ name: `${name}.${index}`, type }));
    const names = outputs.map((output) => output.name);
    this.emit(op, inputs, attributes, names);
    return outputs;
  }

  /** Adds a node of onnxruntime's own operators. */
  contribNode(
    op: string,
    inputs: readonly (Value | undefined)[],
    attributes: Attributes = {},
    type?: ElementType,
  ): Value {
    const output = this.freshName(op);
    this.emit(op, inputs, attributes, [output], "com.microsoft");
    return { name: output, type: type ?? inputs[0]?.type ?? this.computeType };
  }

  /** Adds a node on values in blocked channels, which only onnxruntime's CPU kernels know. */
  blockedNode(op: string, inputs: readonly (Value | undefined)[], attributes: Attributes = {}): Value {
    const output = this.freshName(`Blocked${op}`);
    this.emit(op, inputs, attributes, [output], BLOCKED_DOMAIN);
    return { name: output, type: "float32" };
  }

  /**
   * A tensor of the checkpoint in the computing type. `shape` is what the architecture expects;
   * `view` may declare other dimensions over the same bytes ([C] as [C,1,1], [O,I,1,1] as [O,I]).
   */
  parameter(name: string, shape: readonly number[], view: readonly number[] = shape): Value {
    const raw = this.rawParameter(name, shape, view);
    return raw === undefined ? { name, type: this.computeType } : this.toComputeType(raw);
  }

  /** The same in the type it has in the file (expanded to float32 where it is quantised); undefined if it is missing. */
  rawParameter(name: string, shape: readonly number[], view: readonly number[] = shape): Value | undefined {
    const tensor = this.find(name, shape);
    return tensor && this.initialiserOf(tensor, view);
  }

  /** Looks a tensor up, checks its shape and notes it as used; notes it as missing where it is not there. */
  find(name: string, shape: readonly number[]): TensorRef | undefined {
    const tensor = this.get(name);
    if (tensor === undefined) {
      // parts of a missing one are missing with it
      if (!this.derived.has(name)) this.missing.set(name, shape);
      return undefined;
    }
    if (!sameShape(tensor.shape, shape)) throw new TensorShapeError(describeOrigin(tensor), name, shape, tensor.shape);
    this.used.set(name, byteLength(tensor));
    return tensor;
  }

  /** A tensor as it is, of whatever shape; of the checkpoint, or made from one of it. */
  get(name: string): TensorRef | undefined {
    return this.derived.has(name) ? this.derived.get(name) : this.source.get(name);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Names equal parts of a tensor's rows, so that a layer can be taken apart without a copy. */
  splitRows(name: string, shape: readonly number[], parts: readonly string[]): void {
    const tensor = this.find(name, shape);
    // the parts are counted
    this.used.delete(name);
    const rows = shape[0]! / parts.length;
    for (const [i, part] of parts.entries()) {
      this.derived.set(part, tensor && sliceRows(tensor, part, i * rows, (i + 1) * rows));
    }
  }

  /** Adds computed bytes as an initialiser: quantised weights, tables. */
  memoryInitialiser(name: string, type: ElementType, dims: readonly number[], data: Uint8Array): Value {
    if (!this.initialisers.has(name)) {
      const place = data.length > MAX_INLINE_BYTES ? (this.computed?.append(data) ?? data) : data;
      if (place === data) this.inlineBytes += data.length;
      this.privateBytes += data.length;
      this.initialisers.set(name, { name, type, dims, data: place });
    }
    return { name, type };
  }

  /** Adds initialisers whose bytes `addWork` will write to the returned offsets of a file; undefined where there is no such file. */
  laterInitialisers(
    initialisers: readonly LaterInitialiser[],
  ): { readonly values: Value[]; readonly file: string; readonly offsets: number[] } | undefined {
    const { computedFile } = this.options;
    if (computedFile === undefined) return undefined;
    const name = namePart(computedFile, this.work.length);
    const computed = this.parts.get(name) ?? new ComputedFile(name);
    this.parts.set(name, computed);
    const offsets: number[] = [];
    for (const { length, ...initialiser } of initialisers) {
      const data = computed.reserve(length);
      offsets.push(data.offset);
      this.privateBytes += length;
      this.initialisers.set(initialiser.name, { ...initialiser, data });
    }
    return { values: initialisers.map(({ name, type }) => ({ name, type })), file: computed.file, offsets };
  }

  addWork(work: WeightWork): void {
    this.work.push(work);
  }

  constantFloats(values: Float32Array | readonly number[], dims: readonly number[] = [values.length]): Value {
    const floats = Float32Array.from(values);
    const key = `const.f32.${dims.join("x")}.${floats.length > 8 ? this.initialisers.size : floats.join("_")}`;
    const value = this.memoryInitialiser(key, "float32", dims, new Uint8Array(floats.buffer));
    return this.toComputeType(value);
  }

  /** Constants that must stay float32 whatever the graph computes in: time steps, scales of Resize. */
  constantFloat32(values: readonly number[], dims: readonly number[] = [values.length]): Value {
    const floats = Float32Array.from(values);
    const key = `const.raw32.${dims.join("x")}.${floats.length > 8 ? this.initialisers.size : floats.join("_")}`;
    return this.memoryInitialiser(key, "float32", dims, new Uint8Array(floats.buffer));
  }

  constantInts(values: readonly number[], dims: readonly number[] = [values.length]): Value {
    const key = `const.i64.${dims.join("x")}.${values.join("_")}`;
    const words = BigInt64Array.from(values, BigInt);
    return this.memoryInitialiser(key, "int64", dims, new Uint8Array(words.buffer));
  }

  cast(value: Value, type: ElementType): Value {
    return value.type === type ? value : this.node("Cast", [value], { to: codeOf(type) }, type);
  }

  toComputeType(value: Value): Value {
    if (value.type === this.computeType) return value;
    const known = this.converted.get(value.name);
    if (known) return known;
    const initialiser = this.initialisers.get(value.name);
    if (initialiser) this.privateBytes += countElements(initialiser.dims) * (this.computeType === "float16" ? 2 : 4);
    const cast = this.cast(value, this.computeType);
    this.converted.set(value.name, cast);
    return cast;
  }

  /** Ends the graph. Throws where the checkpoint lacked tensors, naming them all at once. */
  build(): BuiltGraph {
    if (this.missing.size > 0) throw new MissingTensorsError(this.name, this.source.origin, this.missing);
    if (this.inlineBytes > MAX_PROTO_BYTES) {
      throw new RangeError(`${this.inlineBytes} bytes of computed weights need a file: give options.computedFile`);
    }
    for (const file of [this.computed, ...this.parts.values()]) file?.finish();
    const { inputs, outputs, privateBytes } = this;
    let weightBytes = 0;
    for (const bytes of this.used.values()) weightBytes += bytes;
    return {
      proto: this.encode(),
      inputs,
      outputs,
      weightBytes,
      privateBytes,
      externalFolder: "/",
      computedFile: this.computed?.file,
      work: this.work,
    };
  }

  private initialiserOf(tensor: TensorRef, view: readonly number[]): Value {
    if (countElements(view) !== countElements(tensor.shape)) {
      throw new RangeError(`'${tensor.name}' cannot be seen as [${view.join(", ")}]`);
    }
    const name = sameDims(view, tensor.shape) ? tensor.name : `${tensor.name}@${view.join("x")}`;
    const type = elementTypeOf(tensor.dtype);
    if (this.initialisers.has(name)) return { name, type: type ?? "float32" };
    if (type === undefined) {
      const floats = readTensorFloats(tensor);
      return this.memoryInitialiser(name, "float32", view, new Uint8Array(floats.buffer));
    }
    if (!isStored(tensor)) return this.memoryInitialiser(name, type, view, tensor.data);
    const data = { location: tensor.file.slice(1), offset: tensor.offset, length: tensor.length };
    this.initialisers.set(name, { name, type, dims: view, data });
    return { name, type };
  }

  private freshName(op: string): string {
    const count = this.nodeNames.get(op) ?? 0;
    this.nodeNames.set(op, count + 1);
    return `${op}_${count}`;
  }

  private emit(
    op: string,
    inputs: readonly (Value | undefined)[],
    attributes: Attributes,
    outputs: readonly string[],
    domain = "",
  ): void {
    const names = inputs.map((input) => input?.name ?? "");
    while (names.at(-1) === "") names.pop();
    this.nodes.push((writer) => {
      for (const name of names) writer.text(1, name);
      for (const name of outputs) writer.text(2, name);
      writer.text(3, outputs[0] ?? op);
      writer.text(4, op);
      for (const [name, value] of Object.entries(attributes)) {
        writer.message(5, (inner) => writeAttribute(inner, name, value));
      }
      if (domain !== "") writer.text(7, domain);
    });
  }

  private encode(): Uint8Array {
    const model = new ProtobufWriter();
    model.int(1, IR_VERSION).text(2, "easel");
    model.message(7, (graph) => {
      for (const write of this.nodes) graph.message(1, write);
      graph.text(2, this.name);
      for (const initialiser of this.initialisers.values()) graph.message(5, (w) => writeInitialiser(w, initialiser));
      // on a CPU without their dimensions: creating a session would compare those of every pair of values, which takes a second for a large net and finds
      // nothing, as most are known only at the call
      const inputs =
        this.options.target === "cpu" ? this.inputs.map(({ name, type }) => ({ name, type })) : this.inputs;
      for (const port of inputs) graph.message(11, (writer) => writePort(writer, port));
      for (const port of this.outputs) graph.message(12, (writer) => writePort(writer, port));
    });
    for (const [domain, version] of [
      ["", OPSET],
      ["com.microsoft", 1],
      [BLOCKED_DOMAIN, 1],
    ] as const) {
      model.message(8, (writer) => writer.text(1, domain).int(2, version));
    }
    return model.finish();
  }
}

export type Attributes = Readonly<Record<string, Attribute>>;

const ATTRIBUTE_FLOAT = 1;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_STRING = 3;
const ATTRIBUTE_FLOATS = 6;
const ATTRIBUTE_INTS = 7;

function writeAttribute(writer: ProtobufWriter, name: string, value: Attribute): void {
  writer.text(1, name);
  if (typeof value === "number") writer.int(3, value).int(20, ATTRIBUTE_INT);
  else if (typeof value === "string") writer.text(4, value).int(20, ATTRIBUTE_STRING);
  else if ("float" in value) writer.float(2, value.float).int(20, ATTRIBUTE_FLOAT);
  else if ("floats" in value) writer.floats(7, value.floats).int(20, ATTRIBUTE_FLOATS);
  else writer.ints(8, value).int(20, ATTRIBUTE_INTS);
}

const EXTERNAL = 1;

function writeInitialiser(writer: ProtobufWriter, { name, type, dims, data }: Initialiser): void {
  if (dims.length > 0) writer.ints(1, dims);
  writer.int(2, codeOf(type)).text(8, name);
  if (data instanceof Uint8Array) {
    writer.bytes(9, data);
    return;
  }
  for (const [key, value] of Object.entries(data)) {
    writer.message(13, (entry) => entry.text(1, key).text(2, String(value)));
  }
  writer.int(14, EXTERNAL);
}

function writePort(writer: ProtobufWriter, { name, type, shape }: Omit<Port, "shape"> & Partial<Port>): void {
  writer.text(1, name).message(2, (typeProto) =>
    typeProto.message(1, (tensor) => {
      tensor.int(1, codeOf(type));
      if (shape === undefined) return;
      tensor.message(2, (dims) => {
        for (const size of shape) {
          dims.message(1, (dim) => (typeof size === "number" ? dim.int(1, size) : dim.text(2, size)));
        }
      });
    }),
  );
}

/** Equal but for trailing ones: a 1x1 convolution and a linear layer hold the same bytes, and checkpoints have either. */
function sameShape(found: readonly number[], wanted: readonly number[]): boolean {
  const longer = found.length > wanted.length ? found : wanted;
  const shorter = longer === found ? wanted : found;
  return (
    shorter.every((size, axis) => size === longer[axis]) && longer.slice(shorter.length).every((size) => size === 1)
  );
}

function sameDims(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, axis) => size === b[axis]);
}
