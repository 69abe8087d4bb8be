/** Linear layers with weights in blocks of 32 (onnxruntime's MatMulNBits): made from any weights, or taken exactly from GGUF. */
import { countElements, halfToFloat, readTensorBytes, readTensorFloats, type TensorRef } from "@kit/tensor-files";
import type { GraphBuilder, Value } from "./graph-builder.js";

const BLOCK = 32;
/** Compute in the type of the input: exact to rounding. */
const ACCURACY_FLOAT = 1;
/** Round each input row's blocks to 8 bits too: several times faster on CPUs with dot-product instructions, about 0.4 % error. */
const ACCURACY_INT8 = 4;

export interface PackedWeights {
  readonly bits: 8 | 4;
  /** [out, in / 32, 32 * bits / 8] */
  readonly blocks: Uint8Array;
  /** [out, in / 32] */
  readonly scales: Float32Array;
}

/** The layer as MatMulNBits, or undefined where this weight stays as it is. */
export function quantisedLinear(
  g: GraphBuilder,
  x: Value,
  name: string,
  inFeatures: number,
  outFeatures: number,
): Value | undefined {
  const tensor = g.source.get(name);
  if (tensor === undefined || inFeatures % BLOCK !== 0) return undefined;
  const bits = bitsFor(tensor, g.options.quantise);
  if (bits === undefined || g.find(name, [outFeatures, inFeatures]) === undefined) return undefined;
  const packed = packWeights(tensor, bits);
  const blockCount = inFeatures / BLOCK;
  const blocks = g.memoryInitialiser(
    `${name}.q${bits}`,
    "uint8",
    [outFeatures, blockCount, (BLOCK * bits) / 8],
    packed.blocks,
  );
  const scaleBytes = new Uint8Array(packed.scales.buffer);
  const scales = g.toComputeType(
    g.memoryInitialiser(`${name}.scales`, "float32", [outFeatures, blockCount], scaleBytes),
  );
  return g.contribNode("MatMulNBits", [x, blocks, scales], {
    K: inFeatures,
    N: outFeatures,
    bits,
    block_size: BLOCK,
    accuracy_level: g.options.target === "cpu" ? ACCURACY_INT8 : ACCURACY_FLOAT,
  });
}

function bitsFor(tensor: TensorRef, wanted: "q8" | "q4" | undefined): 8 | 4 | undefined {
  if (tensor.dtype === "Q8_0") return 8;
  if (tensor.dtype === "Q4_0") return 4;
  if (wanted === undefined) return undefined;
  return wanted === "q8" ? 8 : 4;
}

export function packWeights(tensor: TensorRef, bits: 8 | 4): PackedWeights {
  if (tensor.dtype === "Q8_0" && bits === 8) return repackQ8(readTensorBytes(tensor), countElements(tensor.shape));
  if (tensor.dtype === "Q4_0" && bits === 4) return repackQ4(readTensorBytes(tensor), countElements(tensor.shape));
  const floats = readTensorFloats(tensor);
  return bits === 8 ? quantiseQ8(floats) : quantiseQ4(floats);
}

/** GGUF Q8_0: a half scale and 32 signed bytes; MatMulNBits wants unsigned ones around 128. */
function repackQ8(bytes: Uint8Array, count: number): PackedWeights {
  const blocks = new Uint8Array(count);
  const scales = new Float32Array(count / BLOCK);
  for (let block = 0; block < scales.length; block++) {
    const at = block * 34;
    scales[block] = halfToFloat(bytes[at]! | (bytes[at + 1]! << 8));
    for (let i = 0; i < BLOCK; i++) blocks[block * BLOCK + i] = bytes[at + 2 + i]! ^ 0x80;
  }
  return { bits: 8, blocks, scales };
}

/** GGUF Q4_0 pairs element i with i + 16 in a byte, MatMulNBits pairs neighbours; both mean 8 as zero. */
function repackQ4(bytes: Uint8Array, count: number): PackedWeights {
  const blocks = new Uint8Array(count / 2);
  const scales = new Float32Array(count / BLOCK);
  for (let block = 0; block < scales.length; block++) {
    const at = block * 18;
    scales[block] = halfToFloat(bytes[at]! | (bytes[at + 1]! << 8));
    for (let i = 0; i < 8; i++) {
      const first = bytes[at + 2 + 2 * i]!;
      const second = bytes[at + 3 + 2 * i]!;
      blocks[block * 16 + i] = (first & 15) | ((second & 15) << 4);
      blocks[block * 16 + 8 + i] = (first >> 4) | (second & 0xf0);
    }
  }
  return { bits: 4, blocks, scales };
}

function quantiseQ8(floats: Float32Array): PackedWeights {
  const blocks = new Uint8Array(floats.length);
  const scales = new Float32Array(floats.length / BLOCK);
  for (let block = 0; block < scales.length; block++) {
    const at = block * BLOCK;
    let largest = 0;
    for (let i = at; i < at + BLOCK; i++) largest = Math.max(largest, Math.abs(floats[i]!));
    const scale = largest / 127;
    const inverse = scale > 0 ? 1 / scale : 0;
    scales[block] = scale;
    for (let i = at; i < at + BLOCK; i++) blocks[i] = Math.round(floats[i]! * inverse) + 128;
  }
  return { bits: 8, blocks, scales };
}

/** The scale takes the sign of the largest element, so that all sixteen levels (-8..7) are used: what ggml does as well. */
function quantiseQ4(floats: Float32Array): PackedWeights {
  const blocks = new Uint8Array(floats.length / 2);
  const scales = new Float32Array(floats.length / BLOCK);
  for (let block = 0; block < scales.length; block++) {
    const at = block * BLOCK;
    let extreme = 0;
    for (let i = at; i < at + BLOCK; i++) if (Math.abs(floats[i]!) > Math.abs(extreme)) extreme = floats[i]!;
    const scale = extreme / -8;
    const inverse = scale !== 0 ? 1 / scale : 0;
    scales[block] = scale;
    for (let i = 0; i < BLOCK; i += 2) {
      const low = Math.min(15, Math.round(floats[at + i]! * inverse) + 8);
      const high = Math.min(15, Math.round(floats[at + i + 1]! * inverse) + 8);
      blocks[(at + i) / 2] = low | (high << 4);
    }
  }
  return { bits: 4, blocks, scales };
}
