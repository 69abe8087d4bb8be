import { closeSync, openSync, readSync } from "node:fs";
import { expandBfloats, expandHalves } from "./half-floats.js";
import { readTensorFloats } from "./read-tensor.js";
import { TensorFileError } from "./tensor-file-error.js";
import { isStored, type TensorRef } from "./tensor-source.js";

/** Reads a tensor's numbers piece by piece: converting a large tensor then needs no memory of its size. */
export interface TensorReader {
  /** what `readStored` gives: the type in the file where it is one of these, otherwise float32 */
  readonly type: "F32" | "F16" | "BF16";
  /** fills `floats` with the numbers from index `from` on */
  read(from: number, floats: Float32Array): void;
  /** the same without a conversion */
  readStored(from: number, bytes: Uint8Array): void;
  close(): void;
}

export function openTensorReader(tensor: TensorRef): TensorReader {
  const { dtype } = tensor;
  if (!isStored(tensor) || (dtype !== "F32" && dtype !== "F16" && dtype !== "BF16")) {
    const all = readTensorFloats(tensor);
    const bytes = new Uint8Array(all.buffer, all.byteOffset, all.byteLength);
    return {
      type: "F32",
      read: (from, floats) => floats.set(all.subarray(from, from + floats.length)),
      readStored: (from, target) => target.set(bytes.subarray(from * 4, from * 4 + target.length)),
      close: () => undefined,
    };
  }
  const handle = openSync(tensor.file, "r");
  const size = dtype === "F32" ? 4 : 2;
  let words = new Uint16Array(0);
  const readStored = (from: number, bytes: Uint8Array) => {
    const at = tensor.offset + from * size;
    let done = 0;
    while (done < bytes.length) {
      const count = readSync(handle, bytes, done, bytes.length - done, at + done);
      if (count === 0) throw new TensorFileError(tensor.file, `tensor '${tensor.name}' could not be read in full`);
      done += count;
    }
  };
  return {
    type: dtype,
    readStored,
    read(from, floats) {
      if (dtype === "F32") return readStored(from, new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength));
      if (words.length < floats.length) words = new Uint16Array(floats.length);
      const piece = words.subarray(0, floats.length);
      readStored(from, new Uint8Array(piece.buffer, 0, piece.byteLength));
      if (dtype === "F16") expandHalves(piece, floats);
      else expandBfloats(piece, floats);
    },
    close: () => closeSync(handle),
  };
}
