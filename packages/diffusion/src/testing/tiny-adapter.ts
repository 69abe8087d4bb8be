/** LoRA files for the tiny checkpoints, the same numbers under any of the naming conventions. */
import { tensorFromFloats, writeSafetensors } from "@kit/tensor-files";
import { ParameterList } from "./parameter-list.js";

export interface TinyAdapterOptions {
  /** `peft` (default): unet.X.lora_A.weight; `diffusers`: older names; `kohya`: lora_unet_X.lora_down.weight */
  readonly naming?: "peft" | "diffusers" | "kohya";
  readonly seed?: number;
  readonly rank?: number;
  /** absent: no alpha in the file */
  readonly alpha?: number;
  /** put before every name: an adapter for some other model */
  readonly prefix?: string;
  /** factor on all outputs: an adapter for a wider model of the same architecture */
  readonly width?: number;
}

interface Layer {
  readonly component: "unet" | "text_encoder";
  readonly module: string;
  readonly outputs: number;
  readonly inputs: number;
  /** side of a convolution's kernel */
  readonly kernel?: number;
}

/** Layers of the `sd1` and `inpaint` checkpoints: attention, feed-forward, a convolution, and the text encoder. */
const LAYERS: readonly Layer[] = [
  { component: "unet", module: "down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_q", outputs: 16, inputs: 16 },
  { component: "unet", module: "down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k", outputs: 16, inputs: 32 },
  { component: "unet", module: "mid_block.attentions.0.transformer_blocks.0.attn1.to_out.0", outputs: 32, inputs: 32 },
  {
    component: "unet",
    module: "up_blocks.1.attentions.1.transformer_blocks.0.ff.net.0.proj",
    outputs: 128,
    inputs: 16,
  },
  { component: "unet", module: "down_blocks.1.resnets.0.conv1", outputs: 32, inputs: 16, kernel: 3 },
  { component: "unet", module: "mid_block.attentions.0.proj_in", outputs: 32, inputs: 32, kernel: 1 },
  { component: "text_encoder", module: "text_model.encoder.layers.1.self_attn.q_proj", outputs: 32, inputs: 32 },
  { component: "text_encoder", module: "text_model.encoder.layers.2.mlp.fc1", outputs: 128, inputs: 32 },
];

export const TINY_ADAPTER_LAYERS = LAYERS.length;

export async function writeTinyAdapter(path: string, options: TinyAdapterOptions = {}): Promise<string> {
  const { naming = "peft", seed = 1, rank = 2, alpha, prefix = "", width = 1 } = options;
  const list = new ParameterList(seed * 16 + 9, "F32");
  for (const layer of LAYERS) {
    const [down, up] = nameMatrices(layer, naming).map((name) => prefix + name) as [string, string];
    const kernel = layer.kernel === undefined ? [] : [layer.kernel, layer.kernel];
    list.random(down, [rank, layer.inputs, ...kernel], layer.inputs * (layer.kernel ?? 1) ** 2);
    list.random(up, [layer.outputs * width, rank, ...kernel.map(() => 1)], rank);
    if (alpha !== undefined) {
      const name = down.replace(/\.(lora_A|lora\.down|lora_down)\.weight$/, "").replace(/_lora\.down\.weight$/, "");
      list.tensors.push(tensorFromFloats(`${name}.alpha`, [], Float32Array.of(alpha)));
    }
  }
  await writeSafetensors(path, list.tensors, { format: "pt" });
  return path;
}

function nameMatrices({ component, module }: Layer, naming: TinyAdapterOptions["naming"]): [string, string] {
  if (naming === "kohya") {
    const prefix = component === "unet" ? "lora_unet" : "lora_te";
    const flat = `${prefix}_${module.replaceAll(".", "_")}`;
    return [`${flat}.lora_down.weight`, `${flat}.lora_up.weight`];
  }
  if (naming === "diffusers")
    return [`${component}.${module}.lora.down.weight`, `${component}.${module}.lora.up.weight`];
  return [`${component}.${module}.lora_A.weight`, `${component}.${module}.lora_B.weight`];
}
