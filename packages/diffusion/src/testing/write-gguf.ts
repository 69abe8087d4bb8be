import { writeFile } from "node:fs/promises";
import { floatToHalf, type MemoryTensor, readTensorFloats } from "@kit/tensor-files";

/** ggml's numbers for the types written here. */
const TYPE_CODES = { F32: 0, F16: 1, Q8_0: 8 } as const;
const VERSION = 3;
const ALIGNMENT = 32;
const BLOCK = 32;

/** A GGUF file without metadata. `quantise` stores matrices whose rows fill blocks of 32 as Q8_0, as converters do. */
export async function writeGguf(path: string, tensors: readonly MemoryTensor[], quantise: boolean): Promise<void> {
  const stored = tensors.map((tensor) => (quantise && isMatrix(tensor) ? quantiseQ8(tensor) : tensor));
  const head = [Buffer.from("GGUF"), word(VERSION), long(stored.length), long(0)];
  const data: Buffer[] = [];
  let offset = 0;
  for (const tensor of stored) {
    const name = Buffer.from(tensor.name);
    // dimensions run from the fastest to the slowest
    const dims = [...tensor.shape].reverse().map(long);
    const code = TYPE_CODES[tensor.dtype as keyof typeof TYPE_CODES];
    head.push(long(name.length), name, word(dims.length), ...dims, word(code), long(offset));
    const padded = padTo(Buffer.from(tensor.data));
    data.push(padded);
    offset += padded.length;
  }
  await writeFile(path, Buffer.concat([padTo(Buffer.concat(head)), ...data]));
}

function isMatrix({ shape }: MemoryTensor): boolean {
  return shape.length === 2 && shape[1]! % BLOCK === 0;
}

/** A half scale and 32 signed bytes a block. */
function quantiseQ8(tensor: MemoryTensor): MemoryTensor {
  const floats = readTensorFloats(tensor);
  const data = Buffer.alloc((floats.length / BLOCK) * (BLOCK + 2));
  for (let block = 0; block * BLOCK < floats.length; block++) {
    const values = floats.subarray(block * BLOCK, (block + 1) * BLOCK);
    const scale = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) / 127;
    const at = block * (BLOCK + 2);
    data.writeUInt16LE(floatToHalf(scale), at);
    for (const [i, value] of values.entries()) data.writeInt8(Math.round(value / (scale || 1)), at + 2 + i);
  }
  return { ...tensor, dtype: "Q8_0", data };
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function long(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function padTo(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)]);
}
