import type { TensorType } from "@kit/tensor-files";

/** ONNX's numbers for the element types we use (TensorProto.DataType). */
const CODES = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  bfloat16: 16,
} as const;

export type ElementType = keyof typeof CODES;

export function codeOf(type: ElementType): number {
  return CODES[type];
}

const BY_TENSOR_TYPE: Partial<Record<TensorType, ElementType>> = {
  F64: "float64",
  F32: "float32",
  F16: "float16",
  BF16: "bfloat16",
  I64: "int64",
  I32: "int32",
  I8: "int8",
  U8: "uint8",
  BOOL: "bool",
};

/** How ONNX calls a file's element type; undefined for quantised blocks and rarities, which must be expanded first. */
export function elementTypeOf(type: TensorType): ElementType | undefined {
  return BY_TENSOR_TYPE[type];
}
