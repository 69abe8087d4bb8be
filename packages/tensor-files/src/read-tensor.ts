import { closeSync, openSync, readSync } from "node:fs";
import { dequantiseBlocks } from "./dequantise.js";
import { bfloatsToFloats, halvesToFloats } from "./half-floats.js";
import { TensorFileError } from "./tensor-file-error.js";
import { describeOrigin, isStored, type TensorRef } from "./tensor-source.js";
import { countElements } from "./tensor-type.js";

/** One read call takes at most this much: Linux transfers no more than 2 GiB at a time. */
const MAX_READ_BYTES = 1 << 30;

/** The raw bytes of a tensor. Synchronous: it is called where graphs are built, in the engine's own process. */
export function readTensorBytes(tensor: TensorRef): Uint8Array {
  if (!isStored(tensor)) return tensor.data;
  const bytes = new Uint8Array(tensor.length);
  const handle = openSync(tensor.file, "r");
  try {
    let done = 0;
    while (done < bytes.length) {
      const count = readSync(handle, bytes, done, Math.min(bytes.length - done, MAX_READ_BYTES), tensor.offset + done);
      if (count === 0) throw new TensorFileError(tensor.file, `tensor '${tensor.name}' could not be read in full`);
      done += count;
    }
  } finally {
    closeSync(handle);
  }
  return bytes;
}

/** A tensor's numbers as Float32, whatever their type in the file; quantised blocks are expanded. */
export function readTensorFloats(tensor: TensorRef): Float32Array {
  const bytes = readTensorBytes(tensor);
  switch (tensor.dtype) {
    case "F32":
      return new Float32Array(aligned(bytes, 4));
    case "F16":
      return halvesToFloats(new Uint16Array(aligned(bytes, 2)));
    case "BF16":
      return bfloatsToFloats(new Uint16Array(aligned(bytes, 2)));
    case "F64":
      return Float32Array.from(new Float64Array(aligned(bytes, 8)));
    case "I64":
      return Float32Array.from(new BigInt64Array(aligned(bytes, 8)), Number);
    case "I32":
      return Float32Array.from(new Int32Array(aligned(bytes, 4)));
    case "U8":
    case "BOOL":
      return Float32Array.from(bytes);
    case "Q4_0":
    case "Q4_1":
    case "Q5_0":
    case "Q5_1":
    case "Q8_0":
    case "Q2_K":
    case "Q3_K":
    case "Q4_K":
    case "Q5_K":
    case "Q6_K":
      return dequantiseBlocks(tensor.dtype, bytes, countElements(tensor.shape));
    default:
      throw new TensorFileError(
        describeOrigin(tensor),
        `tensor '${tensor.name}' has type ${tensor.dtype}, which cannot be read as numbers here`,
      );
  }
}

/** Typed arrays demand alignment; bytes that lie askew (or are part of a larger buffer) are copied. */
function aligned(bytes: Uint8Array, size: number): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = bytes;
  if (byteOffset === 0 && byteLength === buffer.byteLength && byteLength % size === 0) return buffer as ArrayBuffer;
  return bytes.slice().buffer as ArrayBuffer;
}
