import type { TensorType } from "./tensor-type.js";

interface TensorHead {
  readonly name: string;
  readonly dtype: TensorType;
  readonly shape: readonly number[];
}

/** A tensor that lies in a file; `file` is a real path, so that it can be mapped by whoever reads it. */
export interface StoredTensor extends TensorHead {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

/** A tensor that was computed: a merged adapter, a quantised weight, a test's random numbers. */
export interface MemoryTensor extends TensorHead {
  readonly data: Uint8Array;
}

export type TensorRef = StoredTensor | MemoryTensor;

export function isStored(tensor: TensorRef): tensor is StoredTensor {
  return "file" in tensor;
}

export function byteLength(tensor: TensorRef): number {
  return isStored(tensor) ? tensor.length : tensor.data.byteLength;
}

/** Where a tensor comes from, for messages. */
export function describeOrigin(tensor: TensorRef): string {
  return isStored(tensor) ? tensor.file : "memory";
}

/** Named tensors, wherever they come from: a file, several shards, a renamed view, an overlay. */
export interface TensorSource {
  /** what to call this source in messages: its file or folder */
  readonly origin: string;
  names(): Iterable<string>;
  get(name: string): TensorRef | undefined;
}

/** A source over a ready-made list; later tensors win over earlier ones of the same name. */
export function sourceOf(origin: string, tensors: Iterable<TensorRef>): TensorSource {
  const byName = new Map<string, TensorRef>();
  for (const tensor of tensors) byName.set(tensor.name, tensor);
  return { origin, names: () => byName.keys(), get: (name) => byName.get(name) };
}

/** `base` with some tensors replaced or added: how adapters are merged without touching the checkpoint. */
export function overlaySource(base: TensorSource, tensors: Iterable<TensorRef>): TensorSource {
  const over = sourceOf(base.origin, tensors);
  return {
    origin: base.origin,
    *names() {
      yield* over.names();
      for (const name of base.names()) if (over.get(name) === undefined) yield name;
    },
    get: (name) => over.get(name) ?? base.get(name),
  };
}

/** The tensors under a prefix, named without it: one component of a checkpoint that holds several. */
export function prefixedSource(base: TensorSource, prefix: string): TensorSource {
  return {
    origin: base.origin,
    *names() {
      for (const name of base.names()) if (name.startsWith(prefix)) yield name.slice(prefix.length);
    },
    get(name) {
      const tensor = base.get(prefix + name);
      return tensor && { ...tensor, name };
    },
  };
}

/** Sum of the bytes of all tensors: what a model weighs before any conversion. */
export function totalBytes(source: TensorSource): number {
  let sum = 0;
  for (const name of source.names()) {
    const tensor = source.get(name);
    if (tensor) sum += byteLength(tensor);
  }
  return sum;
}

/**
 * Rows `from`..`to` of a tensor along its first dimension, as a view on the same bytes:
 * how a fused query-key-value matrix is taken apart without a copy.
 */
export function sliceRows(tensor: TensorRef, name: string, from: number, to: number): TensorRef {
  const rows = tensor.shape[0] ?? 0;
  if (from < 0 || to > rows || from >= to) {
    throw new RangeError(`rows ${from}..${to} lie outside tensor '${tensor.name}', which has ${rows}`);
  }
  const rowBytes = byteLength(tensor) / rows;
  const head = { name, dtype: tensor.dtype, shape: [to - from, ...tensor.shape.slice(1)] };
  if (isStored(tensor)) {
    return { ...head, file: tensor.file, offset: tensor.offset + from * rowBytes, length: (to - from) * rowBytes };
  }
  return { ...head, data: tensor.data.subarray(from * rowBytes, to * rowBytes) };
}
