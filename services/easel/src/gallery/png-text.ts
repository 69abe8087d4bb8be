/** Text chunks of a PNG, put in and taken out without touching the pixels. Written by hand because sharp offers no way to set them. */
import { crc32 } from "node:zlib";

const SIGNATURE_BYTES = 8;
/** length, type and checksum around the data of a chunk */
const CHUNK_OVERHEAD = 12;
/** IHDR is always first and has 13 bytes of data. */
const AFTER_HEADER = SIGNATURE_BYTES + CHUNK_OVERHEAD + 13;

/** Inserts one international text chunk (UTF-8) for each entry, right after the header. */
export function insertPngTexts(png: Uint8Array, texts: Readonly<Record<string, string>>): Buffer {
  const chunks = Object.entries(texts).map(([keyword, text]) => createTextChunk(keyword, text));
  return Buffer.concat([png.subarray(0, AFTER_HEADER), ...chunks, png.subarray(AFTER_HEADER)]);
}

function createTextChunk(keyword: string, text: string): Buffer {
  // keyword, 0, not compressed, method 0, no language, no translated keyword
  const data = Buffer.concat([Buffer.from(keyword, "latin1"), Buffer.from([0, 0, 0, 0, 0]), Buffer.from(text, "utf8")]);
  const chunk = Buffer.alloc(data.length + CHUNK_OVERHEAD);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write("iTXt", 4, "latin1");
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

/** Uncompressed tEXt and iTXt chunks before the pixels. `start` may be only the beginning of the file. */
export function readPngTexts(start: Uint8Array): Record<string, string> {
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.byteLength);
  const texts: Record<string, string> = {};
  for (let at = SIGNATURE_BYTES; at + CHUNK_OVERHEAD <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (type === "IDAT" || type === "IEND" || data.length < length) break;
    const end = data.indexOf(0);
    if (type === "tEXt" && end > 0) texts[data.toString("latin1", 0, end)] = data.toString("latin1", end + 1);
    if (type === "iTXt" && end > 0 && data[end + 1] === 0) {
      const language = data.indexOf(0, end + 3);
      const translated = data.indexOf(0, language + 1);
      if (language > 0 && translated > 0)
        texts[data.toString("latin1", 0, end)] = data.toString("utf8", translated + 1);
    }
    at += CHUNK_OVERHEAD + length;
  }
  return texts;
}
