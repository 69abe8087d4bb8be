/** Adapters merged into weights: new tensors for an overlay, the checkpoint itself stays as it is. */
import { countElements, isStored, type MemoryTensor, readTensorFloats, tensorFromFloats } from "@kit/tensor-files";
import type { AdaptedComponent, MatchedLayer } from "./match-layers.js";
import type { AdapterLayer } from "./read-adapter.js";

/** Row-major product of a [rows x inner] and b [inner x columns]; the engine brings a faster one. */
export type MatrixProduct = (
  a: Float32Array,
  b: Float32Array,
  rows: number,
  inner: number,
  columns: number,
) => Promise<Float32Array>;

export interface ScaledAdapter {
  readonly layers: readonly MatchedLayer[];
  readonly scale: number;
}

/** The changed weights of one component; several adapters on one weight add up. */
export async function mergeAdapters(
  adapters: readonly ScaledAdapter[],
  component: AdaptedComponent,
  multiply: MatrixProduct = multiplyPlainly,
): Promise<MemoryTensor[]> {
  const changes = new Map<string, { match: MatchedLayer; scale: number }[]>();
  for (const { layers, scale } of adapters) {
    if (scale === 0) continue;
    for (const match of layers) {
      if (match.component !== component) continue;
      const known = changes.get(match.parameter) ?? [];
      changes.set(match.parameter, [...known, { match, scale }]);
    }
  }
  const merged: MemoryTensor[] = [];
  for (const [parameter, list] of changes) {
    const { weight } = list[0]!.match;
    // numbers of a tensor in memory may be its very bytes, which must stay as they are
    const floats = isStored(weight) ? readTensorFloats(weight) : readTensorFloats(weight).slice();
    for (const { match, scale } of list) {
      const delta = await computeDelta(match.layer, multiply);
      const factor = (scale * match.layer.alpha) / match.layer.rank;
      for (let i = 0; i < floats.length; i++) floats[i]! += factor * delta[i]!;
    }
    // half-precision checkpoints stay half precision: the sum is rounded as the weights themselves were
    const dtype = weight.dtype === "F16" || weight.dtype === "BF16" ? "F16" : "F32";
    merged.push(tensorFromFloats(parameter, weight.shape, floats, dtype));
  }
  return merged;
}

/** up x down as [outputs, inputs * kernel]: the same numbers for linear layers and convolutions. */
async function computeDelta(layer: AdapterLayer, multiply: MatrixProduct): Promise<Float32Array> {
  const up = readTensorFloats(layer.up);
  const down = readTensorFloats(layer.down);
  const outputs = layer.up.shape[0]!;
  if (!layer.mid) return multiply(up, down, outputs, layer.rank, down.length / layer.rank);
  // [rank, rank, k, k] core: down is [rank, inputs]; the kernel positions are worked out one by one
  const core = readTensorFloats(layer.mid);
  const positions = countElements(layer.mid.shape.slice(2));
  const inputs = down.length / layer.rank;
  const delta = new Float32Array(outputs * inputs * positions);
  for (let p = 0; p < positions; p++) {
    const slice = Float32Array.from({ length: layer.rank * layer.rank }, (_, i) => core[i * positions + p]!);
    const left = await multiply(up, slice, outputs, layer.rank, layer.rank);
    const product = await multiply(left, down, outputs, layer.rank, inputs);
    for (let i = 0; i < product.length; i++) delta[i * positions + p] = product[i]!;
  }
  return delta;
}

async function multiplyPlainly(
  a: Float32Array,
  b: Float32Array,
  rows: number,
  inner: number,
  columns: number,
): Promise<Float32Array> {
  const result = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const target = result.subarray(row * columns, (row + 1) * columns);
    for (let k = 0; k < inner; k++) {
      const factor = a[row * inner + k]!;
      const source = b.subarray(k * columns, (k + 1) * columns);
      for (let column = 0; column < columns; column++) target[column]! += factor * source[column]!;
    }
  }
  return result;
}
