/**
 * CLIP's byte-pair tokenizer, read from a diffusers tokenizer folder: tokenizer.json, or vocab.json + merges.txt.
 * The algorithm is @huggingface/tokenizers'; this file only describes CLIP's pipeline to it, as the slow files do not.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { InvalidInputError } from "../invalid-input-error.js";

const START_TEXT = "<|startoftext|>";
const END_TEXT = "<|endoftext|>";

/** What CLIP was trained with; a config without model_max_length means this. */
const DEFAULT_MAX_LENGTH = 77;

/** Words and numbers apart, contractions kept together; special tokens typed in a prompt stay whole. */
const WORD_PATTERN =
  "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";

export interface ClipTokenizer {
  /** length of one chunk, both special tokens included */
  readonly maxLength: number;
  readonly startToken: number;
  readonly endToken: number;
  /** fills a chunk after its end token: the end token again in SD 1, "!" (0) in SD 2 and SDXL's second encoder */
  readonly padToken: number;
  /** token ids of a text, without start, end and padding */
  encodeText(text: string): number[];
}

export async function openClipTokenizer(folder: string): Promise<ClipTokenizer> {
  const config = (await readJsonObject(folder, "tokenizer_config.json")) ?? {};
  const special = (await readJsonObject(folder, "special_tokens_map.json")) ?? {};
  const description = await readTokenizerDescription(folder);
  const tokenizer = createTokenizer(description, config, folder);
  const idOf = (token: string): number => {
    const id = tokenizer.token_to_id(token);
    if (id === undefined) throw new InvalidInputError(`${folder}: the vocabulary lacks the special token ${token}`);
    return id;
  };
  const endToken = idOf(readToken(config["eos_token"]) ?? readToken(special["eos_token"]) ?? END_TEXT);
  const padText = readToken(config["pad_token"]) ?? readToken(special["pad_token"]);
  return {
    maxLength: readMaxLength(config, folder),
    startToken: idOf(readToken(config["bos_token"]) ?? readToken(special["bos_token"]) ?? START_TEXT),
    endToken,
    padToken: padText === null ? endToken : idOf(padText),
    // JavaScript lower-cases a word's last Σ to ς; the original goes letter by letter
    encodeText: (text) => tokenizer.encode(text.replaceAll("Σ", "σ"), { add_special_tokens: false }).ids,
  };
}

function createTokenizer(description: object, config: object, folder: string): Tokenizer {
  try {
    return new Tokenizer(description, config);
  } catch (cause) {
    throw new InvalidInputError(`${folder}: not a usable tokenizer (${String(cause)})`, { cause });
  }
}

/** The slow files say nothing of the pipeline, so they come first: they leave no doubt that it is CLIP's. */
async function readTokenizerDescription(folder: string): Promise<object> {
  const vocabulary = await readJsonObject(folder, "vocab.json");
  const merges = await readText(join(folder, "merges.txt"));
  if (vocabulary && merges !== null) return describeClipPipeline(vocabulary, merges, folder);
  const description = await readJsonObject(folder, "tokenizer.json");
  if (description) return description;
  throw new InvalidInputError(`${folder}: no tokenizer here; expected vocab.json and merges.txt, or tokenizer.json`);
}

function describeClipPipeline(vocabulary: Record<string, unknown>, merges: string, folder: string): object {
  const [start, end] = [vocabulary[START_TEXT], vocabulary[END_TEXT]];
  if (typeof start !== "number" || typeof end !== "number") {
    throw new InvalidInputError(`${folder}: vocab.json lacks ${START_TEXT} or ${END_TEXT}`);
  }
  const addedToken = (id: number, content: string) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  });
  const lines = merges.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#version"));
  return {
    added_tokens: [addedToken(start, START_TEXT), addedToken(end, END_TEXT)],
    normalizer: {
      type: "Sequence",
      normalizers: [
        { type: "NFC" },
        { type: "Replace", pattern: { Regex: "\\s+" }, content: " " },
        { type: "Lowercase" },
      ],
    },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: WORD_PATTERN }, behavior: "Removed", invert: true },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
      ],
    },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: END_TEXT,
      continuing_subword_prefix: "",
      end_of_word_suffix: "</w>",
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: vocabulary,
      merges: lines.map((line) => line.split(" ")),
    },
  };
}

function readMaxLength(config: Record<string, unknown>, folder: string): number {
  const value = config["model_max_length"] ?? DEFAULT_MAX_LENGTH;
  // Python writes 1e30 where no length was set.
  if (typeof value === "number" && value > 1e6) return DEFAULT_MAX_LENGTH;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 3) {
    throw new InvalidInputError(`${folder}: tokenizer_config.json: model_max_length = ${JSON.stringify(value)}`);
  }
  return value;
}

/** A token is written as its text, or as an object with the text in `content`. */
function readToken(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null && "content" in value && typeof value.content === "string") {
    return value.content;
  }
  return null;
}

async function readJsonObject(folder: string, name: string): Promise<Record<string, unknown> | null> {
  const text = await readText(join(folder, name));
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (cause) {
    throw new InvalidInputError(`${join(folder, name)}: not valid JSON (${String(cause)})`, { cause });
  }
  throw new InvalidInputError(`${join(folder, name)}: not a JSON object`);
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
