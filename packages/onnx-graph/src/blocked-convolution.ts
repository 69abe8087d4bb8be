/**
 * Convolutions on onnxruntime's blocked kernels (x64), a third faster than the plain ones. The runtime's own optimiser would choose them as well,
 * but copies the weights several times while it does so, which takes longer than several steps of a picture; here they are written in order at once.
 */
import { countElements, isBlockType, isStored, readTensorFloats, type TensorRef } from "@kit/tensor-files";
import { blockFilters, type FilterBlock } from "./blocked-filter.js";
import type { Attributes, GraphBuilder, Value } from "./graph-builder.js";

/** The convolution on blocked channels, or undefined where this one stays plain. */
export function blockedConvolution(
  g: GraphBuilder,
  x: Value,
  name: string,
  shape: readonly [outputs: number, inputs: number, height: number, width: number],
  bias: boolean,
  attributes: Attributes,
): Value | undefined {
  const { filterBlock } = g.options;
  const [outputs, inputs] = shape;
  if (filterBlock === undefined || inputs % filterBlock !== 0) return undefined;
  const tensor = g.find(`${name}.weight`, shape);
  if (tensor === undefined) return undefined;
  const padded = Math.ceil(outputs / filterBlock) * filterBlock;
  const weight = addBlockedFilters(g, { ...tensor, shape }, [padded, ...shape.slice(1)], filterBlock);
  const shift = bias ? blockedBias(g, `${name}.bias`, outputs, padded) : undefined;
  const blocked = g.blockedNode("Conv", [g.blockedNode("ReorderInput", [x]), weight, shift], attributes);
  return g.blockedNode("ReorderOutput", [blocked], { channels: outputs });
}

/** Missing biases are noted by the lookup, as for any other parameter. */
function blockedBias(g: GraphBuilder, name: string, outputs: number, padded: number): Value {
  if (padded === outputs) return g.parameter(name, [outputs]);
  const tensor = g.find(name, [outputs]);
  const values = new Float32Array(padded);
  if (tensor) values.set(readTensorFloats(tensor));
  return g.memoryInitialiser(`${name}.padded`, "float32", [padded], new Uint8Array(values.buffer));
}

function addBlockedFilters(g: GraphBuilder, tensor: TensorRef, dims: readonly number[], block: FilterBlock): Value {
  const name = `${tensor.name}.blocked`;
  const length = countElements(dims) * 4;
  if (isStored(tensor) && !isBlockType(tensor.dtype)) {
    const later = g.laterInitialisers([{ name, type: "float32", dims, length }]);
    if (later) {
      g.addWork({ kind: "block", block, tensor, file: later.file, at: later.offsets[0]! });
      return later.values[0]!;
    }
  }
  const [, inputs = 1, ...kernel] = tensor.shape;
  const filters = new Float32Array(length / 4);
  filters.set(readTensorFloats(tensor));
  const blocked = new Float32Array(filters.length);
  const size = block * inputs * countElements(kernel);
  for (let at = 0; at < filters.length; at += size) {
    blockFilters(
      filters.subarray(at, at + size),
      inputs,
      countElements(kernel),
      block,
      blocked.subarray(at, at + size),
    );
  }
  return g.memoryInitialiser(name, "float32", dims, new Uint8Array(blocked.buffer));
}
