/** The element types the readers know: safetensors' scalars, and GGUF's blocks of quantised numbers. */

interface TypeLayout {
  /** how many numbers one block holds; 1 for plain scalars */
  readonly blockSize: number;
  /** how many bytes one block takes */
  readonly blockBytes: number;
}

const LAYOUTS = {
  F64: { blockSize: 1, blockBytes: 8 },
  F32: { blockSize: 1, blockBytes: 4 },
  F16: { blockSize: 1, blockBytes: 2 },
  BF16: { blockSize: 1, blockBytes: 2 },
  F8_E4M3: { blockSize: 1, blockBytes: 1 },
  F8_E5M2: { blockSize: 1, blockBytes: 1 },
  I64: { blockSize: 1, blockBytes: 8 },
  I32: { blockSize: 1, blockBytes: 4 },
  I16: { blockSize: 1, blockBytes: 2 },
  I8: { blockSize: 1, blockBytes: 1 },
  U64: { blockSize: 1, blockBytes: 8 },
  U32: { blockSize: 1, blockBytes: 4 },
  U16: { blockSize: 1, blockBytes: 2 },
  U8: { blockSize: 1, blockBytes: 1 },
  BOOL: { blockSize: 1, blockBytes: 1 },
  Q4_0: { blockSize: 32, blockBytes: 18 },
  Q4_1: { blockSize: 32, blockBytes: 20 },
  Q5_0: { blockSize: 32, blockBytes: 22 },
  Q5_1: { blockSize: 32, blockBytes: 24 },
  Q8_0: { blockSize: 32, blockBytes: 34 },
  Q2_K: { blockSize: 256, blockBytes: 84 },
  Q3_K: { blockSize: 256, blockBytes: 110 },
  Q4_K: { blockSize: 256, blockBytes: 144 },
  Q5_K: { blockSize: 256, blockBytes: 176 },
  Q6_K: { blockSize: 256, blockBytes: 210 },
} as const satisfies Record<string, TypeLayout>;

export type TensorType = keyof typeof LAYOUTS;

export function isTensorType(name: string): name is TensorType {
  return Object.hasOwn(LAYOUTS, name);
}

export function layoutOf(type: TensorType): TypeLayout {
  return LAYOUTS[type];
}

export function isBlockType(type: TensorType): boolean {
  return LAYOUTS[type].blockSize > 1;
}

export function countElements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Bytes a tensor takes, or undefined where its last dimension does not fill whole blocks or the product is no safe integer. */
export function byteLengthOf(type: TensorType, shape: readonly number[]): number | undefined {
  const { blockSize, blockBytes } = LAYOUTS[type];
  if (blockSize > 1 && (shape.at(-1) ?? 1) % blockSize !== 0) return undefined;
  const bytes = (countElements(shape) / blockSize) * blockBytes;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
