export {
  type AdaptedComponent,
  type AdapterTargets,
  createLayerMatcher,
  type LayerMatcher,
  type MatchedLayer,
} from "./match-layers.js";
export { type MatrixProduct, mergeAdapters, type ScaledAdapter } from "./merge-adapters.js";
export { type Adapter, type AdapterLayer, readAdapter } from "./read-adapter.js";
