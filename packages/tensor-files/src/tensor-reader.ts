import { closeSync, openSync, readSync } from "node:fs";
import { expandBfloats, expandHalves } from "./half-floats.js";
import { readTensorFloats } from "./read-tensor.js";
import { TensorFileError } from "./tensor-file-error.js";
import { isStored, type TensorRef } from "./tensor-source.js";

/** Reads a tensor's numbers piece by piece: converting a large tensor then needs no memory of its size. */
export interface TensorReader {
  /** fills `floats` with the numbers from index `from` on */
  read(from: number, floats: Float32Array): void;
  close(): void;
}

export function openTensorReader(tensor: TensorRef): TensorReader {
  const { dtype } = tensor;
  if (!isStored(tensor) || (dtype !== "F32" && dtype !== "F16" && dtype !== "BF16")) {
    const all = readTensorFloats(tensor);
    return { read: (from, floats) => floats.set(all.subarray(from, from + floats.length)), close: () => undefined };
  }
  const handle = openSync(tensor.file, "r");
  const size = dtype === "F32" ? 4 : 2;
  let words = new Uint16Array(0);
  const fill = (target: Uint8Array, at: number) => {
    let done = 0;
    while (done < target.length) {
      const count = readSync(handle, target, done, target.length - done, tensor.offset + at + done);
      if (count === 0) throw new TensorFileError(tensor.file, `tensor '${tensor.name}' could not be read in full`);
      done += count;
    }
  };
  return {
    read(from, floats) {
      if (dtype === "F32")
        return fill(new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength), from * size);
      if (words.length < floats.length) words = new Uint16Array(floats.length);
      const piece = words.subarray(0, floats.length);
      fill(new Uint8Array(piece.buffer, 0, piece.byteLength), from * size);
      if (dtype === "F16") expandHalves(piece, floats);
      else expandBfloats(piece, floats);
    },
    close: () => closeSync(handle),
  };
}
