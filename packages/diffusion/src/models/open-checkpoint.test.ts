import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { GraphOptions } from "@kit/onnx-graph";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAutoencoder, openCheckpoint } from "./open-checkpoint.js";
import { buildUNet2DConditionModel, readUNetConfig } from "./unet-2d-condition-model.js";

const FIXTURES = path.join(import.meta.dirname, "../../fixtures/models");
const CPU: GraphOptions = { target: "cpu", compute: "fp32", weights: "fold" };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "checkpoint-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A copy of the sd1 fixture to spoil. */
async function copyOf(name: string): Promise<string> {
  const copy = path.join(folder, name);
  await cp(path.join(FIXTURES, "sd1"), copy, { recursive: true });
  return copy;
}

async function editJson(file: string, change: Record<string, unknown>): Promise<void> {
  const json = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
  await writeFile(file, JSON.stringify({ ...json, ...change }));
}

describe("openCheckpoint", () => {
  it("finds the parts of a folder and weighs them", async () => {
    const checkpoint = await openCheckpoint(path.join(FIXTURES, "sdxl"));
    expect(checkpoint).toMatchObject({ kind: "sdxl", tokenizer: undefined });
    expect(checkpoint.unet.config.textTime).toEqual({ timeEmbedDim: 256, inputDim: 1552 });
    expect(checkpoint.textEncoder2?.config.projection).toBe(16);
    expect(checkpoint.schedulerConfig["_class_name"]).toBe("EulerDiscreteScheduler");
    expect(checkpoint.bytes).toBeGreaterThan(300_000);
  });

  it("reads configs off a single file's shapes", async () => {
    const checkpoint = await openCheckpoint(path.join(FIXTURES, "sd2.safetensors"), { normGroups: 4 });
    const folderConfig = (await openCheckpoint(path.join(FIXTURES, "sd2"))).unet.config;
    const { upcastAttention: _none, sampleSize: _unknown, ...read } = checkpoint.unet.config;
    expect(folderConfig).toMatchObject(read);
    // OpenCLIP's last layer is in the file but was never trained upon
    expect(checkpoint.textEncoder?.config).toMatchObject({ layers: 3, activation: "gelu" });
  });

  it("names a folder that is missing or none", async () => {
    await expect(openCheckpoint(path.join(folder, "nowhere"))).rejects.toThrow(/nowhere: there is no such file/);
    await mkdir(path.join(folder, "empty"));
    await expect(openCheckpoint(path.join(folder, "empty"))).rejects.toThrow(/no model_index.json/);
  });

  it("refuses other families by name", async () => {
    const copy = await copyOf("flux");
    await editJson(path.join(copy, "model_index.json"), { _class_name: "FluxPipeline", unet: undefined });
    await expect(openCheckpoint(copy)).rejects.toThrow(/describes a FluxPipeline/);
  });

  it("says that pickles are not opened", async () => {
    const copy = await copyOf("pickle");
    const vae = path.join(copy, "vae/diffusion_pytorch_model");
    await rename(`${vae}.safetensors`, `${vae}.bin`);
    await expect(openCheckpoint(copy)).rejects.toThrow(/only diffusion_pytorch_model.bin, a Python pickle/);
  });

  it("says which parts do not belong together", async () => {
    const copy = await copyOf("mismatch");
    await editJson(path.join(copy, "text_encoder/config.json"), { hidden_size: 48, num_attention_heads: 1 });
    await expect(openCheckpoint(copy)).rejects.toThrow(/cross_attention_dim 32, but .* hidden_size 48/);
  });

  it("says what a single file is not", async () => {
    const lora = path.join(FIXTURES, "sd1/vae/diffusion_pytorch_model.safetensors");
    await expect(openCheckpoint(lora)).rejects.toThrow(/no Stable Diffusion denoiser/);
    const unet = path.join(FIXTURES, "sd1/unet/diffusion_pytorch_model.safetensors");
    await expect(openAutoencoder(unet)).rejects.toThrow(/holds no autoencoder/);
  });

  it("prefers the variant that is asked for", async () => {
    const copy = await copyOf("variants");
    const unet = path.join(copy, "unet/diffusion_pytorch_model");
    await cp(`${unet}.safetensors`, `${unet}.fp16.safetensors`);
    expect((await openCheckpoint(copy)).unet.source.origin).toMatch(/model\.safetensors$/);
    expect((await openCheckpoint(copy, { variant: "fp16" })).unet.source.origin).toMatch(/model\.fp16\.safetensors$/);
  });
});

describe("a config that does not fit the weights", () => {
  it("is refused when the graph is built, with the tensor and both shapes", async () => {
    const copy = await copyOf("wide");
    await editJson(path.join(copy, "unet/config.json"), { block_out_channels: [32, 64] });
    const { unet } = await openCheckpoint(copy);
    expect(() => buildUNet2DConditionModel(unet.config, unet.source, CPU)).toThrow(
      /unet\/diffusion_pytorch_model.safetensors: tensor 'down_blocks.1.resnets.0.conv1.weight' has shape \[32, 32, 3, 3\], but its config.json calls for \[64, 32, 3, 3\]/,
    );
  });

  it("is refused where layers are missing, naming them", async () => {
    const copy = await copyOf("deep");
    await editJson(path.join(copy, "unet/config.json"), { layers_per_block: 2 });
    const { unet } = await openCheckpoint(copy);
    expect(() => buildUNet2DConditionModel(unet.config, unet.source, CPU)).toThrow(
      /tensors are missing for unet: down_blocks.0.resnets.1.norm1.weight/,
    );
  });
});

describe("readUNetConfig", () => {
  const refused: [string, unknown, RegExp][] = [
    ["class_embed_type", "timestep", /'class_embed_type' is "timestep"; this variant .* not supported/],
    ["num_class_embeds", 1000, /'num_class_embeds' is 1000/],
    ["addition_embed_type", "image", /'addition_embed_type' is "image"; supported: text_time/],
    ["act_fn", "mish", /'act_fn' is "mish"; supported: silu, swish, gelu, relu/],
    ["mid_block_type", "UNetMidBlock2DSimpleCrossAttn", /'mid_block_type' is .*supported: UNetMidBlock2DCrossAttn/],
    ["down_block_types", ["AttnDownBlock2D"], /supported entries: DownBlock2D, CrossAttnDownBlock2D/],
    ["block_out_channels", [10, 20, 30, 40], /each must be a multiple of 32/],
    ["block_out_channels", "320", /expected a list of positive whole numbers/],
    ["attention_head_dim", [8, 8], /expected a number or a list of 4/],
    ["cross_attention_dim", 1e9, /expected a list of positive whole numbers/],
    ["in_channels", -4, /expected a whole number/],
    ["only_cross_attention", "yes", /expected true, false or a list of 4/],
    [
      "transformer_layers_per_block",
      [
        [1, 1],
        [1, 1],
        [1, 1],
        [1, 1],
      ],
      /'reverse_transformer_layers_per_block' is missing/,
    ],
    ["_class_name", "UNet2DModel", /'_class_name' is "UNet2DModel"; supported: UNet2DConditionModel/],
  ];
  it.each(refused)("refuses %s %j", (field, value, message) => {
    expect(() => readUNetConfig({ [field]: value }, "unet/config.json")).toThrow(message);
    expect(() => readUNetConfig({ [field]: value }, "unet/config.json")).toThrow(/^unet\/config.json: /);
  });

  it("knows the historic meaning of attention_head_dim: heads", () => {
    const config = readUNetConfig({ attention_head_dim: [5, 10, 20, 20] }, "config.json");
    expect(config.downBlocks.map((block) => block.heads)).toEqual([5, 10, 20, 20]);
    expect(config.upBlocks.map((block) => block.heads)).toEqual([20, 20, 10, 5]);
  });
});
