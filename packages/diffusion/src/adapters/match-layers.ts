/** Finds the weight of the model that each layer of an adapter changes. */
import { countElements, type TensorRef, type TensorSource } from "@kit/tensor-files";
import { InvalidInputError } from "../invalid-input-error.js";
import { renameUNetTensor } from "../models/original-names.js";
import type { Adapter, AdapterLayer } from "./read-adapter.js";

export type AdaptedComponent = "unet" | "textEncoder" | "textEncoder2";

/** The weights adapters may change. */
export interface AdapterTargets {
  readonly unet: TensorSource;
  /** resnets in each down block; kohya's SDXL files count blocks by it */
  readonly unetLayers: number;
  readonly textEncoder: TensorSource | undefined;
  readonly textEncoder2: TensorSource | undefined;
}

export interface MatchedLayer {
  readonly component: AdaptedComponent;
  /** name of the weight tensor in the component */
  readonly parameter: string;
  readonly weight: TensorRef;
  readonly layer: AdapterLayer;
}

const KOHYA_PREFIXES: readonly (readonly [string, AdaptedComponent])[] = [
  ["lora_unet_", "unet"],
  ["lora_te1_", "textEncoder"],
  ["lora_te2_", "textEncoder2"],
  ["lora_te_", "textEncoder"],
];

const DOTTED_PREFIXES: readonly (readonly [string, AdaptedComponent])[] = [
  ["unet.", "unet"],
  ["text_encoder_2.", "textEncoder2"],
  ["text_encoder.", "textEncoder"],
];

export type LayerMatcher = (adapter: Adapter) => MatchedLayer[];

/** Prepares the name tables of a model once; the matcher refuses adapters none of whose layers fit. */
export function createLayerMatcher(targets: AdapterTargets): LayerMatcher {
  const sources: Record<AdaptedComponent, TensorSource | undefined> = targets;
  const flatNames: Partial<Record<AdaptedComponent, Map<string, string>>> = {};
  const flatNamesOf = (component: AdaptedComponent) => {
    flatNames[component] ??= flattenNames(sources[component], component === "unet" ? targets.unetLayers : undefined);
    return flatNames[component];
  };
  const find = (name: string): { component: AdaptedComponent; parameter: string } | undefined => {
    const kohya = KOHYA_PREFIXES.find(([prefix]) => name.startsWith(prefix));
    if (kohya) {
      const parameter = flatNamesOf(kohya[1]).get(name.slice(kohya[0].length));
      return parameter === undefined ? undefined : { component: kohya[1], parameter };
    }
    const bare = name.replace(/^base_model\.model\./, "");
    const dotted = DOTTED_PREFIXES.find(([prefix]) => bare.startsWith(prefix));
    const component = dotted?.[1] ?? "unet";
    const module = normaliseModule(dotted ? bare.slice(dotted[0].length) : bare);
    const candidates = [module, `text_model.${module}`, module.replace(/^text_model\./, "")];
    const found = candidates.find((candidate) => sources[component]?.get(`${candidate}.weight`));
    return found === undefined ? undefined : { component, parameter: `${found}.weight` };
  };
  return (adapter) => {
    const matched: MatchedLayer[] = [];
    for (const layer of adapter.layers) {
      const place = find(layer.name);
      if (!place) continue;
      const weight = sources[place.component]!.get(place.parameter)!;
      checkShape(adapter, layer, weight);
      matched.push({ ...place, weight, layer });
    }
    if (matched.length === 0) {
      throw new InvalidInputError(
        `${adapter.path}: none of its ${adapter.layers.length} layers fits this model (the first is ${adapter.layers[0]!.name}); the adapter was made for another architecture`,
      );
    }
    return matched;
  };
}

/** `attn1.processor.to_q_lora` and `attn1.to_q` are the same layer; `to_out` is written with and without its index. */
function normaliseModule(module: string): string {
  return module.replace(".processor.", ".").replace(/\.to_out$/, ".to_out.0");
}

/** Every weight's module name with dots as underscores, as kohya writes it; for the UNet also under its original name. */
function flattenNames(source: TensorSource | undefined, unetLayers: number | undefined): Map<string, string> {
  const flat = new Map<string, string>();
  if (!source) return flat;
  for (const name of source.names()) {
    if (!name.endsWith(".weight")) continue;
    const module = name.slice(0, -".weight".length);
    flat.set(module.replaceAll(".", "_"), name);
    if (!module.startsWith("text_model.")) flat.set(`text_model_${module.replaceAll(".", "_")}`, name);
  }
  if (unetLayers !== undefined) addOriginalNames(flat, source, unetLayers);
  return flat;
}

/** More input or output blocks than any published UNet has. */
const MAX_BLOCKS = 40;
const RESNET_PARTS = ["in_layers.2", "out_layers.3", "emb_layers.1", "skip_connection"];

/** kohya's SDXL adapters use the original block numbering: every original name is tried and kept where it leads to a weight. */
function addOriginalNames(flat: Map<string, string>, source: TensorSource, layers: number): void {
  const attentionParts = new Set<string>();
  for (const name of source.names()) {
    const part = /\.attentions\.\d+\.(.+)\.weight$/.exec(name)?.[1];
    if (part) attentionParts.add(part);
  }
  const parts = [...attentionParts, ...RESNET_PARTS, "op", "conv"];
  const blocks = ["middle_block.0", "middle_block.1", "middle_block.2"];
  for (let i = 0; i < MAX_BLOCKS; i++) {
    for (let j = 0; j < 3; j++) blocks.push(`input_blocks.${i}.${j}`, `output_blocks.${i}.${j}`);
  }
  for (const block of blocks) {
    for (const part of parts) {
      const original = `${block}.${part}`;
      const parameter = renameUNetTensor(`${original}.weight`, layers);
      if (parameter && source.get(parameter)) flat.set(original.replaceAll(".", "_"), parameter);
    }
  }
}

function checkShape(adapter: Adapter, layer: AdapterLayer, weight: TensorRef): void {
  const outputs = layer.up.shape[0]!;
  const rest = layer.mid
    ? layer.down.shape[1]! * countElements(layer.mid.shape.slice(2))
    : countElements(layer.down.shape.slice(1)) * countElements(layer.up.shape.slice(2));
  if (outputs !== weight.shape[0] || outputs * rest !== countElements(weight.shape)) {
    throw new InvalidInputError(
      `${adapter.path}: layer ${layer.name} changes a weight of ${outputs}x${rest}, but this model's is ${weight.shape.join("x")}; the adapter was made for another model`,
    );
  }
}
