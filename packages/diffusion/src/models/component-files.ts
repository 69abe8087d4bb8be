/** Finds the weights of one component in its folder: whole or in shards, full or half precision, safetensors or GGUF. */
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { openGguf, openSafetensors, openShardedSafetensors, type TensorSource } from "@kit/tensor-files";
import { parsePythonJson } from "../parse-python-json.js";
import { CheckpointError } from "./checkpoint.js";

/** Stems that diffusers and transformers write, the likelier first. */
const STEMS = ["diffusion_pytorch_model", "model"];
/** Configs are a few kB; a larger file is none. */
const MAX_CONFIG_BYTES = 4_000_000;

export async function openComponentWeights(folder: string, variant: "fp16" | undefined): Promise<TensorSource> {
  const files = await readdir(folder).catch((cause: unknown) => {
    throw new CheckpointError(folder, "the folder is missing", { cause });
  });
  const name = chooseWeights(files, variant);
  if (name === undefined) throw new CheckpointError(folder, explainNoWeights(files));
  const file = path.join(folder, name);
  if (name.endsWith(".json")) return openShardedSafetensors(file);
  return name.endsWith(".gguf") ? openGguf(file) : openSafetensors(file);
}

function chooseWeights(files: readonly string[], variant: "fp16" | undefined): string | undefined {
  const full = STEMS.flatMap((stem) => [`${stem}.safetensors`, `${stem}.safetensors.index.json`]);
  const half = STEMS.flatMap((stem) => [
    `${stem}.fp16.safetensors`,
    `${stem}.safetensors.index.fp16.json`,
    `${stem}.fp16.safetensors.index.json`,
  ]);
  const order = variant === "fp16" ? [...half, ...full] : [...full, ...half];
  const known = order.find((name) => files.includes(name));
  if (known) return known;
  const others = files.filter((name) => name.endsWith(".safetensors") || name.endsWith(".gguf"));
  return others.length === 1 ? others[0] : undefined;
}

function explainNoWeights(files: readonly string[]): string {
  const pickle = files.find((name) => /\.(bin|ckpt|pt|pth)$/.test(name));
  if (pickle) {
    return `it has only ${pickle}, a Python pickle, which can run code when opened; get the .safetensors version of this model`;
  }
  const several = files.filter((name) => name.endsWith(".safetensors") || name.endsWith(".gguf"));
  if (several.length > 1) return `it has several weight files (${several.join(", ")}) and none has a standard name`;
  return `it has no weights (looked for ${STEMS.map((stem) => `${stem}[.fp16].safetensors`).join(", ")} and *.gguf)`;
}

export async function isFolder(folder: string): Promise<boolean> {
  const info = await stat(folder).catch(() => undefined);
  return info?.isDirectory() ?? false;
}

/** A JSON object from a file; undefined where the file is missing. */
export async function readJsonFile(file: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const info = await stat(file).catch(() => undefined);
  if (info === undefined) return undefined;
  if (info.size > MAX_CONFIG_BYTES) throw new CheckpointError(file, "it is too large to be a config file");
  let parsed: unknown;
  try {
    parsed = parsePythonJson(await readFile(file, "utf8"));
  } catch (cause) {
    throw new CheckpointError(file, "it is not valid JSON", { cause });
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new CheckpointError(file, "it holds no JSON object");
  }
  return parsed as Record<string, unknown>;
}
