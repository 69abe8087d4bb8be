import { crc32 } from "node:zlib";
import { IndexFileError } from "./index-file-error.js";
import type { IndexMeta, IndexStatistics } from "./range-record.js";

/**
 * The frame of an index file:
 *
 *     bytes 0..7    magic "STRATAIX"
 *     bytes 8..11   format number, little-endian
 *     bytes 12..15  length of the header text
 *     bytes 16..19  CRC-32 of the header text
 *     bytes 20..    header: JSON, then zeros up to the first section
 *     sections      each at a multiple of 64 bytes, each with a CRC-32 in the header
 *
 * Everything is little-endian, as every machine Node runs on that we support.
 */
const MAGIC = "STRATAIX";
/** Raised whenever the sections change: a reader of one number would misread the file of another. */
export const FORMAT_NUMBER = 2;
export const FIXED_HEADER_BYTES = 20;
export const SECTION_ALIGNMENT = 64;
/** The header names some sixty sections; anything near this size is not ours. */
const LONGEST_HEADER = 1 << 20;

export interface SectionPlace {
  readonly name: string;
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly bytes: number;
  readonly crc: number;
}

export interface IndexHeader {
  readonly fileBytes: number;
  /** 16 hex digits from the content of all sections and the meta: equal exactly when two indexes answer alike. */
  readonly fingerprint: string;
  readonly statistics: IndexStatistics;
  readonly meta: Pick<IndexMeta, "sample" | "notes">;
  readonly sections: readonly SectionPlace[];
}

export function alignSection(offset: number): number {
  return Math.ceil(offset / SECTION_ALIGNMENT) * SECTION_ALIGNMENT;
}

/** The first bytes of the file, up to (not including) the padding before the first section. */
export function encodeHeader(header: IndexHeader): Buffer {
  const text = Buffer.from(JSON.stringify(header), "utf8");
  const fixed = Buffer.alloc(FIXED_HEADER_BYTES);
  fixed.write(MAGIC, 0, "latin1");
  fixed.writeUInt32LE(FORMAT_NUMBER, 8);
  fixed.writeUInt32LE(text.length, 12);
  fixed.writeUInt32LE(crc32(text), 16);
  return Buffer.concat([fixed, text]);
}

/** Reads the fixed part; throws when the file is no index or one of another format. Returns the length of the header text. */
export function decodeFixedHeader(fixed: Buffer, path: string): { headerBytes: number; headerCrc: number } {
  if (fixed.length < FIXED_HEADER_BYTES || fixed.toString("latin1", 0, 8) !== MAGIC) {
    throw new IndexFileError("foreign", `'${path}' is ${describeForeign(fixed)}, not a strata index. ${REMEDY}`);
  }
  const format = fixed.readUInt32LE(8);
  if (format > FORMAT_NUMBER) {
    throw new IndexFileError(
      "newer",
      `'${path}' is a strata index of format ${format}; this program reads format ${FORMAT_NUMBER}. ` +
        "Update strata, or fetch an index made for this version.",
    );
  }
  if (format < FORMAT_NUMBER) {
    throw new IndexFileError(
      "older",
      `'${path}' is a strata index of the old format ${format}; this program reads format ${FORMAT_NUMBER}. ${REMEDY}`,
    );
  }
  const headerBytes = fixed.readUInt32LE(12);
  if (headerBytes > LONGEST_HEADER) throw damaged(path, "its header is longer than any real one");
  return { headerBytes, headerCrc: fixed.readUInt32LE(16) };
}

export function decodeHeader(text: Buffer, headerCrc: number, path: string): IndexHeader {
  if (crc32(text) !== headerCrc) throw damaged(path, "the checksum of its header is wrong");
  return JSON.parse(text.toString("utf8")) as IndexHeader;
}

export function truncated(path: string, expected: number, actual: number): IndexFileError {
  return new IndexFileError(
    "truncated",
    `'${path}' is a strata index that was cut off: it should have ${expected} bytes and has ${actual}. ${REMEDY}`,
  );
}

export function damaged(path: string, what: string): IndexFileError {
  return new IndexFileError("damaged", `'${path}' is a damaged strata index: ${what}. ${REMEDY}`);
}

const REMEDY = "Make or fetch a new one ('strata ingest', 'strata sync') or point --index at another file.";

/** Names the kinds of file that people do put there by mistake. */
function describeForeign(start: Buffer): string {
  const text = start.toString("latin1");
  if (start.length === 0) return "an empty file";
  if (text.startsWith("SQLite format 3")) return "an SQLite database";
  if (start[0] === 0x1f && start[1] === 0x8b) return "a gzip file (unpack it first?)";
  if (start.length >= 4 && start.readUInt32LE(0) === 0xfd2fb528) return "a zstd file (unpack it first?)";
  if (/^\s*[[{]/.test(text)) return "a JSON file";
  return "a file of another kind";
}
