export { type ElementType, elementTypeOf } from "./element-type.js";
export {
  type Attribute,
  type Attributes,
  type BuiltGraph,
  type Dimension,
  GraphBuilder,
  type Port,
  type Value,
} from "./graph-builder.js";
export type { GraphOptions, Target } from "./graph-options.js";
export * from "./layers.js";
export * from "./operators.js";
export { type PackedWeights, packWeights } from "./quantised-linear.js";
export { recommendedEnvironment, recommendedSessionOptions, type SessionOptions } from "./session-options.js";
export { MissingTensorsError, TensorShapeError } from "./weight-errors.js";
