/** Linear layers with weights in blocks of 32 (onnxruntime's MatMulNBits): made from any weights, or taken exactly from GGUF. */
import { countElements, isBlockType, isStored, type TensorRef } from "@kit/tensor-files";
import type { GraphBuilder, Value } from "./graph-builder.js";
import { type Bits, BLOCK, packWeights } from "./pack-weights.js";

/** Compute in the type of the input: exact to rounding. */
const ACCURACY_FLOAT = 1;
/** Round each input row's blocks to 8 bits too: several times faster on CPUs with dot-product instructions, about 0.4 % error. */
const ACCURACY_INT8 = 4;

/** The layer as MatMulNBits, or undefined where this weight stays as it is. */
export function quantisedLinear(
  g: GraphBuilder,
  x: Value,
  name: string,
  inFeatures: number,
  outFeatures: number,
): Value | undefined {
  const tensor = g.get(name);
  if (tensor === undefined || inFeatures % BLOCK !== 0) return undefined;
  const bits = bitsFor(tensor, g.options.quantise);
  if (bits === undefined || g.find(name, [outFeatures, inFeatures]) === undefined) return undefined;
  const { blocks, scales } = addPackedWeights(g, tensor, bits, outFeatures, inFeatures / BLOCK);
  return g.contribNode("MatMulNBits", [x, blocks, g.toComputeType(scales)], {
    K: inFeatures,
    N: outFeatures,
    bits,
    block_size: BLOCK,
    accuracy_level: g.options.target === "cpu" ? ACCURACY_INT8 : ACCURACY_FLOAT,
  });
}

function bitsFor(tensor: TensorRef, wanted: "q8" | "q4" | undefined): Bits | undefined {
  if (tensor.dtype === "Q8_0") return 8;
  if (tensor.dtype === "Q4_0") return 4;
  if (wanted === undefined) return undefined;
  return wanted === "q8" ? 8 : 4;
}

function addPackedWeights(
  g: GraphBuilder,
  tensor: TensorRef,
  bits: Bits,
  rows: number,
  blocksPerRow: number,
): { readonly blocks: Value; readonly scales: Value } {
  const names = [`${tensor.name}.q${bits}`, `${tensor.name}.scales`] as const;
  const shapes = [
    [rows, blocksPerRow, (BLOCK * bits) / 8],
    [rows, blocksPerRow],
  ] as const;
  if (isStored(tensor) && !isBlockType(tensor.dtype)) {
    const later = g.laterInitialisers([
      { name: names[0], type: "uint8", dims: shapes[0], length: countElements(shapes[0]) },
      { name: names[1], type: "float32", dims: shapes[1], length: countElements(shapes[1]) * 4 },
    ]);
    if (later) {
      const [blocks, scales] = later.values as [Value, Value];
      const [blocksAt, scalesAt] = later.offsets as [number, number];
      g.addWork({ kind: "quantise", bits, tensor, file: later.file, blocksAt, scalesAt });
      return { blocks, scales };
    }
  }
  const packed = packWeights(tensor, bits);
  return {
    blocks: g.memoryInitialiser(names[0], "uint8", shapes[0], packed.blocks),
    scales: g.memoryInitialiser(names[1], "float32", shapes[1], new Uint8Array(packed.scales.buffer)),
  };
}
