/**
 * Reads a LoRA file's header and sorts its tensors into layers. A layer's change of weight is
 * scale * alpha / rank * up x down; an absent alpha means alpha = rank.
 *
 * Suffixes understood after a layer's name:
 *   .lora_A.weight / .lora_B.weight (PEFT; with an adapter name between: .lora_A.default.weight)
 *   .lora.down.weight / .lora.up.weight, .lora_linear_layer.down.weight / .up.weight, _lora.down.weight / .up.weight (older diffusers)
 *   .lora_down.weight / .lora_up.weight / .lora_mid.weight and .alpha (kohya)
 */
import { openSafetensors, readTensorFloats, type TensorRef } from "@kit/tensor-files";
import { InvalidInputError } from "../invalid-input-error.js";

export interface AdapterLayer {
  /** the layer as the file names it, without suffix */
  readonly name: string;
  readonly down: TensorRef;
  readonly up: TensorRef;
  /** kohya's three-part convolutions: a small core between down and up */
  readonly mid: TensorRef | undefined;
  readonly alpha: number;
  readonly rank: number;
}

export interface Adapter {
  readonly path: string;
  readonly layers: readonly AdapterLayer[];
}

type Role = "down" | "up" | "mid" | "alpha";

const SUFFIXES: readonly (readonly [RegExp, Role])[] = [
  [/\.lora_A(\.[^.]+)?\.weight$/, "down"],
  [/\.lora_B(\.[^.]+)?\.weight$/, "up"],
  [/(\.lora|\.lora_linear_layer|_lora)\.down\.weight$/, "down"],
  [/(\.lora|\.lora_linear_layer|_lora)\.up\.weight$/, "up"],
  [/\.lora_down\.weight$/, "down"],
  [/\.lora_up\.weight$/, "up"],
  [/\.lora_mid\.weight$/, "mid"],
  [/\.alpha$/, "alpha"],
];

/** Kinds of adapter that change weights by another formula; merging them as LoRA would be wrong. */
const FOREIGN_KINDS: readonly (readonly [RegExp, string])[] = [
  [/\.hada_w\d/, "LoHa"],
  [/\.lokr_w\d/, "LoKr"],
  [/\.(dora_scale|lora_magnitude_vector)/, "DoRA"],
  [/\.(on_input|diff)$/, "IA3 or full-difference"],
];

export async function readAdapter(path: string): Promise<Adapter> {
  const file = await openSafetensors(path);
  const groups = new Map<string, Partial<Record<Role, TensorRef>>>();
  for (const name of file.names()) {
    const foreign = FOREIGN_KINDS.find(([pattern]) => pattern.test(name));
    if (foreign)
      throw new InvalidInputError(`${path}: ${foreign[1]} adapters are not supported (tensor ${name}); use a LoRA`);
    const suffix = SUFFIXES.find(([pattern]) => pattern.test(name));
    if (!suffix) continue;
    const layer = name.replace(suffix[0], "");
    const group = groups.get(layer) ?? {};
    groups.set(layer, { ...group, [suffix[1]]: file.get(name)! });
  }
  const alphaOf = readMetadataAlphas(file.metadata.get("lora_adapter_metadata"));
  const layers: AdapterLayer[] = [];
  for (const [name, group] of groups) {
    if (!group.down && !group.up) continue;
    layers.push(createLayer(path, name, group, alphaOf));
  }
  if (layers.length === 0) {
    throw new InvalidInputError(
      `${path}: not a LoRA adapter: it has no tensors named like lora_down/lora_up or lora_A/lora_B`,
    );
  }
  return { path, layers };
}

function createLayer(
  path: string,
  name: string,
  group: Partial<Record<Role, TensorRef>>,
  alphaOf: (layer: string) => number | undefined,
): AdapterLayer {
  const { down, up, mid, alpha } = group;
  if (!down || !up) throw new InvalidInputError(`${path}: layer ${name} has only one of its two matrices`);
  const rank = down.shape[0] ?? 0;
  if (rank === 0 || up.shape[1] !== rank) {
    throw new InvalidInputError(
      `${path}: layer ${name}: matrices of ${up.shape.join("x")} and ${down.shape.join("x")} cannot be multiplied`,
    );
  }
  const value = alpha ? readTensorFloats(alpha)[0]! : (alphaOf(name) ?? rank);
  if (!Number.isFinite(value)) throw new InvalidInputError(`${path}: layer ${name} has alpha ${value}`);
  return { name, down, up, mid, alpha: value, rank };
}

/** diffusers puts the PEFT config of each component into the file's metadata; alpha_pattern overrides lora_alpha by layer. */
function readMetadataAlphas(json: string | undefined): (layer: string) => number | undefined {
  if (json === undefined) return () => undefined;
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(json) as Record<string, unknown>;
  } catch {
    return () => undefined;
  }
  return (layer) => {
    const component = layer.split(".")[0]!;
    const inner = layer.slice(component.length + 1);
    const pattern = fields[`${component}.alpha_pattern`];
    const special =
      typeof pattern === "object" && pattern !== null ? (pattern as Record<string, unknown>)[inner] : undefined;
    const alpha = special ?? fields[`${component}.lora_alpha`];
    return typeof alpha === "number" ? alpha : undefined;
  };
}
