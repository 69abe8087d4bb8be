import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { MemoryTensor } from "./tensor-source.js";
import { byteLengthOf } from "./tensor-type.js";

/** Tensors start on multiples of this, as the reference writer does it. */
const HEADER_ALIGNMENT = 8;

/** Writes tensors as one safetensors file: under a temporary name first, so that a reader never sees half a file. */
export async function writeSafetensors(
  filePath: string,
  tensors: readonly MemoryTensor[],
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  await mkdir(path.dirname(filePath), { recursive: true });
  const partial = `${filePath}.${process.pid}.partial`;
  const handle = await open(partial, "w");
  try {
    await handle.write(encodeHeader(tensors, metadata));
    for (const tensor of tensors) await handle.write(tensor.data);
    await handle.sync();
    await handle.close();
    await rename(partial, filePath);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  }
}

function encodeHeader(tensors: readonly MemoryTensor[], metadata: Readonly<Record<string, string>>): Buffer {
  const header: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  let offset = 0;
  for (const { name, dtype, shape, data } of tensors) {
    if (byteLengthOf(dtype, shape) !== data.byteLength) {
      throw new RangeError(
        `tensor '${name}' has ${data.byteLength} bytes, which do not make ${dtype} [${shape.join(", ")}]`,
      );
    }
    header[name] = { dtype, shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header), "utf8");
  const padded = Math.ceil(json.length / HEADER_ALIGNMENT) * HEADER_ALIGNMENT;
  const bytes = Buffer.alloc(8 + padded, " ");
  bytes.writeBigUInt64LE(BigInt(padded), 0);
  json.copy(bytes, 8);
  return bytes;
}
