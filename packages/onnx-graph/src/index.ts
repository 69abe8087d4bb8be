export { prefersConvolutions } from "./blocked-linear.js";
export { computeWeights, needsComputedWeights, startWeights, type WeightComputation } from "./compute-weights.js";
export { removeComputedFiles } from "./computed-file.js";
export { type ElementType, elementTypeOf } from "./element-type.js";
export type { FilterBlock } from "./filter-blocker.js";
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
export { recommendedEnvironment, recommendedSessionOptions, type SessionOptions } from "./session-options.js";
export { MissingTensorsError, TensorShapeError } from "./weight-errors.js";
