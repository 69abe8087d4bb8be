export { type BlockType, dequantiseBlocks } from "./dequantise.js";
export { type GgufFile, type GgufValue, openGguf } from "./gguf.js";
export { bfloatsToFloats, floatsToHalves, floatToHalf, halfToFloat, halvesToFloats } from "./half-floats.js";
export { tensorFromFloats } from "./memory-tensor.js";
export { readTensorBytes, readTensorFloats } from "./read-tensor.js";
export { openSafetensors, openShardedSafetensors, type TensorFile } from "./safetensors.js";
export { TensorFileError } from "./tensor-file-error.js";
export { openTensorReader, type TensorReader } from "./tensor-reader.js";
export {
  byteLength,
  describeOrigin,
  isStored,
  type MemoryTensor,
  overlaySource,
  prefixedSource,
  type StoredTensor,
  sliceRows,
  sourceOf,
  type TensorRef,
  type TensorSource,
  totalBytes,
} from "./tensor-source.js";
export { byteLengthOf, countElements, isBlockType, isTensorType, layoutOf, type TensorType } from "./tensor-type.js";
export { writeSafetensors } from "./write-safetensors.js";
