import { type FileHandle, open, readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { recogniseForeignFile } from "./recognise-file.js";
import { TensorFileError } from "./tensor-file-error.js";
import { type StoredTensor, sourceOf, type TensorSource } from "./tensor-source.js";
import { byteLengthOf, isBlockType, isTensorType } from "./tensor-type.js";

/** The format's own limit; SDXL's header is 0.3 MB. */
const MAX_HEADER_BYTES = 100_000_000;
/** More dimensions than any tensor of a neural network has; keeps hostile shapes short. */
const MAX_RANK = 16;
/** A file of shards is small; anything larger is no index. */
const MAX_INDEX_BYTES = 16_000_000;

export interface TensorFile extends TensorSource {
  /** real path of the file */
  readonly file: string;
  readonly metadata: ReadonlyMap<string, string>;
}

/** Reads a safetensors header: names, types and byte ranges. The weights themselves are not read. */
export async function openSafetensors(filePath: string): Promise<TensorFile> {
  const file = await realpath(filePath);
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const header = await readHeader(handle, file, size);
    const { tensors, metadata } = parseHeader(header.json, file, header.end, size);
    return { ...sourceOf(file, tensors), file, metadata };
  } finally {
    await handle.close();
  }
}

/** Opens all shards named by a `*.safetensors.index.json`; every shard must lie beside the index. */
export async function openShardedSafetensors(indexPath: string): Promise<TensorSource> {
  const shards = await readShardIndex(indexPath);
  const folder = path.dirname(indexPath);
  const opened = new Map<string, TensorFile>();
  for (const shard of new Set(shards.values())) opened.set(shard, await openSafetensors(path.join(folder, shard)));
  const tensors: StoredTensor[] = [];
  for (const [name, shard] of shards) {
    const tensor = opened.get(shard)?.get(name);
    if (tensor === undefined) {
      throw new TensorFileError(indexPath, `says that tensor '${name}' is in ${shard}, but it is not there`);
    }
    tensors.push(tensor as StoredTensor);
  }
  return sourceOf(folder, tensors);
}

async function readShardIndex(indexPath: string): Promise<Map<string, string>> {
  const text = await readFile(indexPath, "utf8");
  if (text.length > MAX_INDEX_BYTES) throw new TensorFileError(indexPath, "is too large to be an index of shards");
  const parsed = parseJsonObject(text, indexPath);
  const map = parsed["weight_map"];
  if (!isObject(map)) throw new TensorFileError(indexPath, "has no 'weight_map' object");
  const shards = new Map<string, string>();
  for (const [name, shard] of Object.entries(map)) {
    if (typeof shard !== "string" || shard !== path.basename(shard) || shard === "" || shard === "..") {
      throw new TensorFileError(indexPath, `maps tensor '${name}' to ${JSON.stringify(shard)}, which is no file name`);
    }
    shards.set(name, shard);
  }
  return shards;
}

async function readHeader(handle: FileHandle, file: string, size: number): Promise<{ json: string; end: number }> {
  const start = Buffer.alloc(Math.min(size, 32));
  await handle.read(start, 0, start.length, 0);
  const refuse = (problem: string): TensorFileError =>
    new TensorFileError(file, recogniseForeignFile(start) ?? `is no safetensors file: ${problem}`);
  if (size < 10) throw refuse(`it has only ${size} bytes`);
  const length = start.readBigUInt64LE(0);
  if (length > BigInt(MAX_HEADER_BYTES)) {
    throw refuse(`its header claims ${length} bytes, the limit is ${MAX_HEADER_BYTES}`);
  }
  const end = 8 + Number(length);
  if (end > size) {
    const problem = `its header claims ${length} bytes but the file has ${size}`;
    if (start[8] === 0x7b) throw new TensorFileError(file, `is truncated: ${problem}; download it again`);
    throw refuse(problem);
  }
  if (start[8] !== 0x7b) throw refuse("its header is no JSON object");
  const header = Buffer.alloc(Number(length));
  const { bytesRead } = await handle.read(header, 0, header.length, 8);
  if (bytesRead < header.length) throw refuse("its header could not be read in full");
  return { json: header.toString("utf8"), end };
}

function parseHeader(
  json: string,
  file: string,
  dataStart: number,
  size: number,
): { tensors: StoredTensor[]; metadata: Map<string, string> } {
  const tensors: StoredTensor[] = [];
  const metadata = new Map<string, string>();
  for (const [name, entry] of Object.entries(parseJsonObject(json, file))) {
    if (name === "__metadata__") {
      if (isObject(entry)) for (const [key, value] of Object.entries(entry)) metadata.set(key, String(value));
    } else {
      tensors.push(parseEntry(name, entry, file, dataStart, size));
    }
  }
  refuseOverlaps(tensors, file);
  return { tensors, metadata };
}

function parseEntry(name: string, entry: unknown, file: string, dataStart: number, size: number): StoredTensor {
  const refuse = (problem: string): TensorFileError => new TensorFileError(file, `tensor '${name}' ${problem}`);
  if (!isObject(entry)) throw refuse("is not described by an object");
  const dtype = entry["dtype"];
  const shape = entry["shape"];
  const offsets = entry["data_offsets"];
  const type = typeof dtype === "string" ? (FOREIGN_SPELLINGS.get(dtype) ?? dtype) : "";
  if (!isTensorType(type) || isBlockType(type)) throw refuse(`has the unknown type ${JSON.stringify(dtype)}`);
  if (!isSizeList(shape) || shape.length > MAX_RANK) throw refuse(`has the invalid shape ${JSON.stringify(shape)}`);
  if (!isSizeList(offsets) || offsets.length !== 2) throw refuse(`has invalid data_offsets ${JSON.stringify(offsets)}`);
  const [begin, end] = offsets as [number, number];
  if (begin > end) throw refuse(`ends (${end}) before it begins (${begin})`);
  if (dataStart + end > size) {
    throw refuse(`ends at byte ${dataStart + end} but the file has ${size}: it is truncated, download it again`);
  }
  if (byteLengthOf(type, shape) !== end - begin) {
    throw refuse(`has ${end - begin} bytes, which do not make ${type} of shape [${shape.join(", ")}]`);
  }
  return { name, dtype: type, shape, file, offset: dataStart + begin, length: end - begin };
}

/** Newer writers spell the 8-bit floats with their variant. */
const FOREIGN_SPELLINGS: ReadonlyMap<string, string> = new Map([["F8_E4M3FN", "F8_E4M3"]]);

function refuseOverlaps(tensors: readonly StoredTensor[], file: string): void {
  const sorted = tensors.filter((tensor) => tensor.length > 0).sort((a, b) => a.offset - b.offset);
  for (let i = 1; i < sorted.length; i++) {
    const before = sorted[i - 1]!;
    const after = sorted[i]!;
    if (after.offset < before.offset + before.length) {
      throw new TensorFileError(file, `tensors '${before.name}' and '${after.name}' overlap`);
    }
  }
}

function parseJsonObject(json: string, file: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw new TensorFileError(file, "its header is not valid JSON", { cause });
  }
  if (!isObject(parsed)) throw new TensorFileError(file, "its header is no JSON object");
  return parsed;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSizeList(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
