import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type MemoryTensor,
  readTensorFloats,
  sourceOf,
  type TensorSource,
  tensorFromFloats,
  writeSafetensors,
} from "@kit/tensor-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLayerMatcher, mergeAdapters, readAdapter } from "./index.js";

let folder: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "adapters-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const tensor = (name: string, shape: readonly number[], values: readonly number[]): MemoryTensor =>
  tensorFromFloats(name, shape, Float32Array.from(values));
const zeros = (name: string, shape: readonly number[]) =>
  tensor(name, shape, Array(shape.reduce((product, size) => product * size, 1)).fill(0));

async function write(tensors: readonly MemoryTensor[], metadata: Record<string, string> = {}): Promise<string> {
  const path = join(folder, `${files++}.safetensors`);
  await writeSafetensors(path, tensors, metadata);
  return path;
}

/** A UNet and text encoders of a few layers, all weights zero: what is merged is the change itself. */
const unet = sourceOf("unet", [
  zeros("down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q.weight", [2, 3]),
  zeros("down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_out.0.weight", [2, 2]),
  zeros("down_blocks.1.resnets.0.conv1.weight", [2, 1, 2, 2]),
  zeros("up_blocks.0.attentions.1.proj_in.weight", [2, 2]),
  zeros("mid_block.attentions.0.proj_out.weight", [2, 2, 1, 1]),
]);
const encoder = (origin: string): TensorSource =>
  sourceOf(origin, [zeros("text_model.encoder.layers.0.self_attn.q_proj.weight", [2, 2])]);
const match = createLayerMatcher({
  unet,
  unetLayers: 2,
  textEncoder: encoder("one"),
  textEncoder2: encoder("two"),
});

async function mergeOne(tensors: readonly MemoryTensor[], scale = 1, metadata = {}) {
  const layers = match(await readAdapter(await write(tensors, metadata)));
  const merged = await mergeAdapters([{ layers, scale }], layers[0]!.component);
  return {
    component: layers[0]!.component,
    name: merged[0]?.name,
    values: merged[0] && [...readTensorFloats(merged[0])],
  };
}

const up = [1, 2];
const down = [3, 4, 5];
const product = [3, 4, 5, 6, 8, 10];
const query = "down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q";

describe("names", () => {
  it.each([
    [`unet.${query}.lora_A.weight`, `unet.${query}.lora_B.weight`],
    [`unet.${query}.lora_A.default.weight`, `unet.${query}.lora_B.default.weight`],
    [`base_model.model.${query}.lora_A.weight`, `base_model.model.${query}.lora_B.weight`],
    [`${query}.lora_A.weight`, `${query}.lora_B.weight`],
    [`unet.${query}.lora.down.weight`, `unet.${query}.lora.up.weight`],
    [`unet.${query}.lora_linear_layer.down.weight`, `unet.${query}.lora_linear_layer.up.weight`],
    [
      "unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.processor.to_q_lora.down.weight",
      "unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.processor.to_q_lora.up.weight",
    ],
    [
      "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn1_to_q.lora_down.weight",
      "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn1_to_q.lora_up.weight",
    ],
    [
      "lora_unet_input_blocks_4_1_transformer_blocks_0_attn1_to_q.lora_down.weight",
      "lora_unet_input_blocks_4_1_transformer_blocks_0_attn1_to_q.lora_up.weight",
    ],
  ])("%s", async (downName, upName) => {
    const merged = await mergeOne([tensor(downName, [1, 3], down), tensor(upName, [2, 1], up)]);
    expect(merged).toEqual({ component: "unet", name: `${query}.weight`, values: product });
  });

  it.each([
    ["lora_unet_output_blocks_1_1_proj_in", "unet", "up_blocks.0.attentions.1.proj_in.weight"],
    ["lora_unet_middle_block_1_proj_out", "unet", "mid_block.attentions.0.proj_out.weight"],
    [
      "unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_out",
      "unet",
      "down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_out.0.weight",
    ],
    [
      "lora_te_text_model_encoder_layers_0_self_attn_q_proj",
      "textEncoder",
      "text_model.encoder.layers.0.self_attn.q_proj.weight",
    ],
    [
      "lora_te1_text_model_encoder_layers_0_self_attn_q_proj",
      "textEncoder",
      "text_model.encoder.layers.0.self_attn.q_proj.weight",
    ],
    [
      "lora_te2_text_model_encoder_layers_0_self_attn_q_proj",
      "textEncoder2",
      "text_model.encoder.layers.0.self_attn.q_proj.weight",
    ],
    [
      "text_encoder_2.text_model.encoder.layers.0.self_attn.q_proj",
      "textEncoder2",
      "text_model.encoder.layers.0.self_attn.q_proj.weight",
    ],
    [
      "text_encoder.encoder.layers.0.self_attn.q_proj",
      "textEncoder",
      "text_model.encoder.layers.0.self_attn.q_proj.weight",
    ],
  ])("%s changes the %s", async (layer, component, name) => {
    const merged = await mergeOne([
      tensor(`${layer}.lora_down.weight`, [1, 2], [3, 4]),
      tensor(`${layer}.lora_up.weight`, [2, 1], up),
    ]);
    expect(merged).toEqual({ component, name, values: [3, 4, 6, 8] });
  });
});

describe("scales", () => {
  const matrices = [
    tensor(`unet.${query}.lora_A.weight`, [1, 3], down),
    tensor(`unet.${query}.lora_B.weight`, [2, 1], up),
  ];

  it("multiplies by scale * alpha / rank", async () => {
    const alpha = tensor(`unet.${query}.alpha`, [], [0.5]);
    expect((await mergeOne([...matrices, alpha], 2)).values).toEqual(product);
    expect((await mergeOne(matrices, -1)).values).toEqual(product.map((value) => -value));
    expect((await mergeOne(matrices, 0)).name).toBeUndefined();
  });

  it("reads alpha from diffusers' metadata", async () => {
    const metadata = { lora_adapter_metadata: JSON.stringify({ "unet.lora_alpha": 4, "unet.r": 1 }) };
    expect((await mergeOne(matrices, 1, metadata)).values).toEqual(product.map((value) => value * 4));
  });

  it("adds several adapters up", async () => {
    const layers = match(await readAdapter(await write(matrices)));
    const merged = await mergeAdapters(
      [
        { layers, scale: 1 },
        { layers, scale: 0.5 },
      ],
      "unet",
    );
    expect(merged).toHaveLength(1);
    expect([...readTensorFloats(merged[0]!)]).toEqual(product.map((value) => value * 1.5));
  });
});

describe("convolutions", () => {
  it("takes the kernel from the down matrix", async () => {
    const layer = "lora_unet_down_blocks_1_resnets_0_conv1";
    const merged = await mergeOne([
      tensor(`${layer}.lora_down.weight`, [1, 1, 2, 2], [1, 2, 3, 4]),
      tensor(`${layer}.lora_up.weight`, [2, 1, 1, 1], [1, 10]),
    ]);
    expect(merged.values).toEqual([1, 2, 3, 4, 10, 20, 30, 40]);
  });

  it("takes the kernel from a core between the matrices", async () => {
    const layer = "lora_unet_down_blocks_1_resnets_0_conv1";
    const merged = await mergeOne([
      tensor(`${layer}.lora_down.weight`, [1, 1, 1, 1], [2]),
      tensor(`${layer}.lora_mid.weight`, [1, 1, 2, 2], [1, 2, 3, 4]),
      tensor(`${layer}.lora_up.weight`, [2, 1, 1, 1], [1, 10]),
    ]);
    expect(merged.values).toEqual([2, 4, 6, 8, 20, 40, 60, 80]);
  });
});

describe("files that cannot be used", () => {
  const refusal = async (tensors: readonly MemoryTensor[]) => match(await readAdapter(await write(tensors)));

  it.each<[string, MemoryTensor[], string]>([
    ["no adapter", [zeros("some.weight", [2])], "not a LoRA adapter"],
    ["LoHa", [zeros("lora_unet_x.hada_w1_a", [2, 2])], "LoHa adapters are not supported"],
    ["DoRA", [zeros("lora_unet_x.dora_scale", [2])], "DoRA adapters are not supported"],
    ["half a layer", [zeros(`unet.${query}.lora_A.weight`, [1, 3])], "only one of its two matrices"],
    [
      "ranks that differ",
      [zeros(`unet.${query}.lora_A.weight`, [1, 3]), zeros(`unet.${query}.lora_B.weight`, [2, 4])],
      "cannot be multiplied",
    ],
    [
      "another width",
      [zeros(`unet.${query}.lora_A.weight`, [1, 5]), zeros(`unet.${query}.lora_B.weight`, [2, 1])],
      "made for another model",
    ],
    [
      "another architecture",
      [zeros("transformer.blocks.0.q.lora_A.weight", [1, 3]), zeros("transformer.blocks.0.q.lora_B.weight", [2, 1])],
      "none of its 1 layers fits this model",
    ],
  ])("%s", async (_, tensors, message) => {
    await expect(refusal(tensors)).rejects.toThrow(message);
  });
});
