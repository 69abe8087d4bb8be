/**
 * Tiny checkpoints in the form they had before diffusers: one file, original names. Written from the layouts' own descriptions,
 * apart from the readers' tables, so that a mistake in those shows.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type MemoryTensor, openSafetensors, readTensorBytes, writeSafetensors } from "@kit/tensor-files";
import { writeGguf } from "./write-gguf.js";

/** Turns a folder of `writeTinyCheckpoint` (`sd1`) into one file: .safetensors, or .gguf with or without quantised matrices. */
export async function writeSingleFile(folder: string, file: string, quantise = false): Promise<string> {
  const unetConfig = JSON.parse(await readFile(join(folder, "unet/config.json"), "utf8"));
  const vaeConfig = JSON.parse(await readFile(join(folder, "vae/config.json"), "utf8"));
  const tensors = [
    ...(await readAll(join(folder, "unet/diffusion_pytorch_model.safetensors"))).map((tensor) => ({
      ...tensor,
      name: `model.diffusion_model.${nameInUnet(tensor.name, unetConfig.layers_per_block + 1, unetConfig.up_block_types)}`,
    })),
    ...(await readAll(join(folder, "vae/diffusion_pytorch_model.safetensors"))).map((tensor) => {
      const name = nameInVae(tensor.name, vaeConfig.block_out_channels.length);
      // attention was made of 1x1 convolutions
      const shape = /\.attn_1\.(q|k|v|proj_out)\.weight$/.test(name) ? [...tensor.shape, 1, 1] : tensor.shape;
      return { ...tensor, shape, name: `first_stage_model.${name}` };
    }),
    ...(await readAll(join(folder, "text_encoder/model.safetensors"))).map((tensor) => ({
      ...tensor,
      name: `cond_stage_model.transformer.${tensor.name}`,
    })),
  ];
  if (file.endsWith(".gguf")) await writeGguf(file, tensors, quantise);
  else await writeSafetensors(file, tensors);
  return file;
}

/** A folder of `writeTinyAutoencoder` as TAESD's own two files, named by the places in a sequence; gives the decoder's path. */
export async function writeOriginalAutoencoder(folder: string, into: string): Promise<string> {
  const tensors = await readAll(join(folder, "diffusion_pytorch_model.safetensors"));
  const half = (side: string, shift: number) =>
    tensors.flatMap((tensor) => {
      const [, index, rest] = new RegExp(`^${side}\\.layers\\.(\\d+)\\.(.+)$`).exec(tensor.name) ?? [];
      return index === undefined ? [] : [{ ...tensor, name: `${Number(index) + shift}.${rest}` }];
    });
  await writeSafetensors(join(into, "taesd_encoder.safetensors"), half("encoder", 0));
  // the decoder's sequence begins with a clamp
  await writeSafetensors(join(into, "taesd_decoder.safetensors"), half("decoder", 1));
  return join(into, "taesd_decoder.safetensors");
}

async function readAll(path: string): Promise<MemoryTensor[]> {
  const file = await openSafetensors(path);
  return [...file.names()].map((name) => {
    const tensor = file.get(name)!;
    return { name, dtype: tensor.dtype, shape: tensor.shape, data: readTensorBytes(tensor) };
  });
}

const RESNET = {
  norm1: "in_layers.0",
  conv1: "in_layers.2",
  time_emb_proj: "emb_layers.1",
  norm2: "out_layers.0",
  conv2: "out_layers.3",
  conv_shortcut: "skip_connection",
} as const;

/** Blocks were numbered through: `stride` of them a level, resnets and attentions side by side in each. */
function nameInUnet(name: string, stride: number, upBlocks: readonly string[]): string {
  const ends: Readonly<Record<string, string>> = {
    conv_in: "input_blocks.0.0",
    "time_embedding.linear_1": "time_embed.0",
    "time_embedding.linear_2": "time_embed.2",
    conv_norm_out: "out.0",
    conv_out: "out.2",
  };
  const [, module = "", kind = ""] = /^(.*)\.(weight|bias)$/.exec(name) ?? [];
  const end = ends[module];
  if (end) return `${end}.${kind}`;
  const inResnet = module.replace(
    /\.(norm[12]|conv[12]|time_emb_proj|conv_shortcut)$/,
    (_, part) => `.${RESNET[part as keyof typeof RESNET]}`,
  );
  const renamed = inResnet.includes("resnets.") ? inResnet : module;
  return `${renamed
    .replace(/^mid_block\.resnets\.0/, "middle_block.0")
    .replace(/^mid_block\.attentions\.0/, "middle_block.1")
    .replace(/^mid_block\.resnets\.1/, "middle_block.2")
    .replace(
      /^down_blocks\.(\d+)\.(resnets|attentions)\.(\d+)/,
      (_, i, part, j) => `input_blocks.${1 + i * stride + Number(j)}.${part === "resnets" ? 0 : 1}`,
    )
    .replace(/^down_blocks\.(\d+)\.downsamplers\.0\.conv/, (_, i) => `input_blocks.${(Number(i) + 1) * stride}.0.op`)
    .replace(
      /^up_blocks\.(\d+)\.(resnets|attentions)\.(\d+)/,
      (_, i, part, j) => `output_blocks.${i * stride + Number(j)}.${part === "resnets" ? 0 : 1}`,
    )
    .replace(
      /^up_blocks\.(\d+)\.upsamplers\.0\.conv/,
      (_, i) => `output_blocks.${i * stride + stride - 1}.${upBlocks[i]!.startsWith("CrossAttn") ? 2 : 1}.conv`,
    )}.${kind}`;
}

/** The decoder's levels were numbered from the finest. */
function nameInVae(name: string, levels: number): string {
  return name
    .replace(/\.conv_shortcut\./, ".nin_shortcut.")
    .replace(/\.conv_norm_out\./, ".norm_out.")
    .replace(/\.mid_block\.resnets\.(\d)\./, (_, i) => `.mid.block_${Number(i) + 1}.`)
    .replace(/\.mid_block\.attentions\.0\.group_norm\./, ".mid.attn_1.norm.")
    .replace(/\.mid_block\.attentions\.0\.to_([qkv])\./, ".mid.attn_1.$1.")
    .replace(/\.mid_block\.attentions\.0\.to_out\.0\./, ".mid.attn_1.proj_out.")
    .replace(/\.down_blocks\.(\d)\.resnets\.(\d)\./, ".down.$1.block.$2.")
    .replace(/\.down_blocks\.(\d)\.downsamplers\.0\./, ".down.$1.downsample.")
    .replace(/\.up_blocks\.(\d)\.resnets\.(\d)\./, (_, i, j) => `.up.${levels - 1 - i}.block.${j}.`)
    .replace(/\.up_blocks\.(\d)\.upsamplers\.0\./, (_, i) => `.up.${levels - 1 - i}.upsample.`);
}
