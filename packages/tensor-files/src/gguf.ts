/**
 * Reads a GGUF header: metadata and tensor table. Written here rather than taken from a package because the file is foreign input:
 * every count and length is checked against the file before anything is allocated.
 */
import { open, realpath } from "node:fs/promises";
import { recogniseForeignFile } from "./recognise-file.js";
import { TensorFileError } from "./tensor-file-error.js";
import { type StoredTensor, sourceOf, type TensorSource } from "./tensor-source.js";
import { byteLengthOf, type TensorType } from "./tensor-type.js";

/** Large vocabularies make headers of a few MB; beyond this it is no model of ours. */
const MAX_HEADER_BYTES = 256 * 1024 * 1024;
const FIRST_READ_BYTES = 256 * 1024;
/** ggml's own limits. */
const MAX_RANK = 4;
const MAX_NAME_BYTES = 65_535;
const MAX_ARRAY_DEPTH = 4;
const DEFAULT_ALIGNMENT = 32;
/** A tensor entry takes at least this many bytes, so the file's size bounds their number. */
const MIN_ENTRY_BYTES = 24;

const TENSOR_TYPES: ReadonlyMap<number, TensorType> = new Map([
  [0, "F32"],
  [1, "F16"],
  [2, "Q4_0"],
  [3, "Q4_1"],
  [6, "Q5_0"],
  [7, "Q5_1"],
  [8, "Q8_0"],
  [10, "Q2_K"],
  [11, "Q3_K"],
  [12, "Q4_K"],
  [13, "Q5_K"],
  [14, "Q6_K"],
  [24, "I8"],
  [25, "I16"],
  [26, "I32"],
  [27, "I64"],
  [28, "F64"],
  [30, "BF16"],
]);

export type GgufValue = number | bigint | boolean | string | readonly GgufValue[];

export interface GgufFile extends TensorSource {
  readonly file: string;
  readonly metadata: ReadonlyMap<string, GgufValue>;
}

/** Thrown inside the parser when the part read so far ends too early. */
class NeedsMoreBytes extends Error {}

export async function openGguf(filePath: string): Promise<GgufFile> {
  const file = await realpath(filePath);
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    for (let length = FIRST_READ_BYTES; ; length *= 4) {
      const want = Math.min(length, size, MAX_HEADER_BYTES);
      const bytes = Buffer.alloc(want);
      const { bytesRead } = await handle.read(bytes, 0, want, 0);
      try {
        return parseGguf(bytes.subarray(0, bytesRead), file, size);
      } catch (error) {
        if (!(error instanceof NeedsMoreBytes)) throw error;
        if (want === size) throw new TensorFileError(file, "is truncated: its header does not end; download it again");
        if (want === MAX_HEADER_BYTES) throw new TensorFileError(file, `has a header above ${MAX_HEADER_BYTES} bytes`);
      }
    }
  } finally {
    await handle.close();
  }
}

function parseGguf(bytes: Buffer, file: string, size: number): GgufFile {
  const cursor = new Cursor(bytes, file);
  if (bytes.toString("latin1", 0, 4) !== "GGUF") {
    throw new TensorFileError(file, recogniseForeignFile(bytes.subarray(0, 32)) ?? "is no GGUF file");
  }
  cursor.at = 4;
  const version = cursor.u32();
  if (version !== 2 && version !== 3) throw new TensorFileError(file, `has GGUF version ${version}; 2 and 3 are known`);
  const tensorCount = cursor.count(size, MIN_ENTRY_BYTES, "tensors");
  const pairCount = cursor.count(size, 13, "metadata entries");
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < pairCount; i++) {
    const key = cursor.text(MAX_NAME_BYTES);
    metadata.set(key, cursor.value(cursor.u32(), 0));
  }
  const entries = Array.from({ length: tensorCount }, () => readEntry(cursor, file));
  const alignment = readAlignment(metadata, file);
  const dataStart = Math.ceil(cursor.at / alignment) * alignment;
  const tensors = entries.map((entry) => placeEntry(entry, file, dataStart, size));
  return { ...sourceOf(file, tensors), file, metadata };
}

interface Entry {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: TensorType;
  readonly offset: number;
}

function readEntry(cursor: Cursor, file: string): Entry {
  const name = cursor.text(MAX_NAME_BYTES);
  const rank = cursor.u32();
  if (rank > MAX_RANK)
    throw new TensorFileError(file, `tensor '${name}' has ${rank} dimensions, at most ${MAX_RANK} exist`);
  // ggml lists the fastest dimension first
  const shape = Array.from({ length: rank }, () => cursor.size()).reverse();
  const code = cursor.u32();
  const dtype = TENSOR_TYPES.get(code);
  if (dtype === undefined) throw new TensorFileError(file, `tensor '${name}' has the unsupported ggml type ${code}`);
  return { name, shape, dtype, offset: cursor.size() };
}

function placeEntry(entry: Entry, file: string, dataStart: number, size: number): StoredTensor {
  const length = byteLengthOf(entry.dtype, entry.shape);
  const shape = `${entry.dtype} of shape [${entry.shape.join(", ")}]`;
  if (length === undefined) throw new TensorFileError(file, `tensor '${entry.name}' cannot be ${shape}`);
  const offset = dataStart + entry.offset;
  if (!Number.isSafeInteger(offset + length) || offset + length > size) {
    throw new TensorFileError(
      file,
      `tensor '${entry.name}' (${shape}) ends at byte ${offset + length} but the file has ${size}: it is truncated, download it again`,
    );
  }
  return { name: entry.name, dtype: entry.dtype, shape: entry.shape, file, offset, length };
}

function readAlignment(metadata: ReadonlyMap<string, GgufValue>, file: string): number {
  const alignment = metadata.get("general.alignment") ?? DEFAULT_ALIGNMENT;
  if (typeof alignment !== "number" || alignment < 1 || alignment > 65_536 || !Number.isInteger(alignment)) {
    throw new TensorFileError(file, `has the invalid general.alignment ${String(alignment)}`);
  }
  return alignment;
}

class Cursor {
  at = 0;
  constructor(
    private readonly bytes: Buffer,
    private readonly file: string,
  ) {}

  private take(length: number): number {
    const at = this.at;
    if (at + length > this.bytes.length) throw new NeedsMoreBytes();
    this.at += length;
    return at;
  }

  u32(): number {
    return this.bytes.readUInt32LE(this.take(4));
  }

  /** A 64-bit length or dimension; what no file can hold is refused at once. */
  size(): number {
    const value = this.bytes.readBigUInt64LE(this.take(8));
    if (value > BigInt(Number.MAX_SAFE_INTEGER))
      throw new TensorFileError(this.file, `claims the absurd size ${value}`);
    return Number(value);
  }

  /** A number of things that take at least `least` bytes each in a file of `fileSize`. */
  count(fileSize: number, least: number, what: string): number {
    const count = this.size();
    if (count * least > fileSize)
      throw new TensorFileError(
        this.file,
        `claims ${count} ${what}, more than it can hold: it is damaged or truncated`,
      );
    return count;
  }

  text(limit: number): string {
    const length = this.size();
    if (length > limit) throw new TensorFileError(this.file, `claims a text of ${length} bytes in its header`);
    const at = this.take(length);
    return this.bytes.toString("utf8", at, at + length);
  }

  value(type: number, depth: number): GgufValue {
    switch (type) {
      case 0:
        return this.bytes.readUInt8(this.take(1));
      case 1:
        return this.bytes.readInt8(this.take(1));
      case 2:
        return this.bytes.readUInt16LE(this.take(2));
      case 3:
        return this.bytes.readInt16LE(this.take(2));
      case 4:
        return this.u32();
      case 5:
        return this.bytes.readInt32LE(this.take(4));
      case 6:
        return this.bytes.readFloatLE(this.take(4));
      case 7:
        return this.bytes.readUInt8(this.take(1)) !== 0;
      case 8:
        return this.text(MAX_HEADER_BYTES);
      case 9:
        return this.array(depth);
      case 10:
        return this.bytes.readBigUInt64LE(this.take(8));
      case 11:
        return this.bytes.readBigInt64LE(this.take(8));
      case 12:
        return this.bytes.readDoubleLE(this.take(8));
      default:
        throw new TensorFileError(this.file, `has metadata of the unknown type ${type}`);
    }
  }

  private array(depth: number): GgufValue[] {
    if (depth >= MAX_ARRAY_DEPTH) throw new TensorFileError(this.file, "nests metadata arrays too deeply");
    const type = this.u32();
    const count = this.count(MAX_HEADER_BYTES, 1, "array elements");
    const values: GgufValue[] = [];
    for (let i = 0; i < count; i++) values.push(this.value(type, depth + 1));
    return values;
  }
}
