import { floatsToHalves } from "./half-floats.js";
import type { MemoryTensor } from "./tensor-source.js";

/** Numbers as a tensor: F32 as they are, or rounded to F16 where half the memory is worth it. */
export function tensorFromFloats(
  name: string,
  shape: readonly number[],
  floats: Float32Array,
  dtype: "F32" | "F16" = "F32",
): MemoryTensor {
  const numbers = dtype === "F16" ? floatsToHalves(floats) : floats;
  return { name, dtype, shape, data: new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength) };
}
