import { readFile } from "node:fs/promises";
import { choice, integer, number, text, toggle, usageError } from "@kit/command-line";
import type { GenerateRequest } from "../contract/generate.js";
import * as limits from "../contract/limits.js";

/** The parameters of a picture as flags, for `run` and `again`. None has a default here: the server knows the model's. */
export const pictureSettings = {
  model: text({
    flag: "-m, --model <name>",
    env: "EASEL_MODEL",
    key: "run.model",
    doc: "model, <name> or <name>:<variant>",
    default: undefined,
  }),
  size: text({ flag: "-s, --size <WxH>", doc: "size in pixels, such as 256x256", default: undefined }),
  steps: integer({
    flag: "--steps <number>",
    doc: "denoising steps",
    default: undefined,
    min: 1,
    max: limits.MAX_STEPS,
  }),
  seed: integer({
    flag: "--seed <number>",
    doc: "same seed, same picture",
    default: undefined,
    min: 0,
    max: limits.MAX_SEED,
  }),
  guidance: number({
    flag: "-g, --guidance <number>",
    doc: "how strictly to follow the prompt",
    default: undefined,
    min: 0,
    max: limits.MAX_GUIDANCE,
  }),
  batch: integer({
    flag: "-b, --batch <number>",
    doc: "pictures to make",
    default: undefined,
    min: 1,
    max: limits.MAX_BATCH,
  }),
  negative: text({ flag: "-n, --negative <text>", doc: "what to keep away from", default: undefined }),
  image: text({ flag: "-i, --image <file>", doc: "picture to start from", default: undefined }),
  strength: number({
    flag: "--strength <number>",
    doc: "with --image: 0 keeps it, 1 ignores it",
    default: undefined,
    min: 0,
    max: 1,
  }),
  mask: text({ flag: "--mask <file>", doc: "with --image: white is repainted, black is kept", default: undefined }),
  lora: text({
    flag: "--lora <file>",
    doc: "adapter, a path on the server below its adapters folder",
    default: undefined,
  }),
  loraScale: number({
    flag: "--lora-scale <number>",
    doc: "strength of the adapter",
    default: undefined,
    min: -limits.MAX_ADAPTER_SCALE,
    max: limits.MAX_ADAPTER_SCALE,
  }),
  expand: toggle({ flag: "--expand", doc: "let a language model add detail to the prompt first", default: false }),
  format: choice({
    flag: "--format <name>",
    key: "run.format",
    doc: "encoding of the picture",
    default: undefined,
    choices: ["png", "jpeg", "webp"],
  }),
} as const;

type Values = {
  readonly [K in keyof typeof pictureSettings]: (typeof pictureSettings)[K] extends { parse(text: string): infer T }
    ? T
    : never;
};

/** The request for these flags; files are read here, on the machine of the person who named them. */
export async function pictureRequest(
  prompt: string,
  values: Values,
  outputName: string | undefined,
): Promise<GenerateRequest> {
  const format = values.format ?? formatOfName(outputName);
  return {
    prompt,
    ...optional("model", values.model),
    ...(values.size === undefined ? {} : parseSize(values.size)),
    ...optional("steps", values.steps),
    ...optional("seed", values.seed),
    ...optional("guidance", values.guidance),
    ...optional("batch", values.batch),
    ...optional("negative_prompt", values.negative),
    ...optional("image", await readBase64("--image", values.image)),
    ...optional("strength", values.strength),
    ...optional("mask", await readBase64("--mask", values.mask)),
    ...optional("lora", values.lora),
    ...optional("lora_scale", values.loraScale),
    ...(values.expand ? { expand: true } : {}),
    ...optional("output_format", format),
  };
}

function optional<K extends string, T>(name: K, value: T | undefined): Partial<Record<K, T>> {
  return value === undefined ? {} : ({ [name]: value } as Partial<Record<K, T>>);
}

function parseSize(size: string): { width: number; height: number } {
  const match = /^(\d+)[x×*](\d+)$/i.exec(size.trim());
  if (!match) throw usageError(`--size must be WIDTHxHEIGHT such as 256x256 (given: ${JSON.stringify(size)})`);
  return { width: Number(match[1]), height: Number(match[2]) };
}

async function readBase64(flag: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return (await readFile(path)).toString("base64");
  } catch (error) {
    throw usageError(`${flag}: cannot read ${path}: ${(error as Error).message}`);
  }
}

function formatOfName(name: string | undefined): "png" | "jpeg" | "webp" | undefined {
  if (name === undefined) return undefined;
  if (/\.jpe?g$/i.test(name)) return "jpeg";
  if (/\.webp$/i.test(name)) return "webp";
  return undefined;
}
