import { createHash, type Hash } from "node:crypto";
import { createReadStream, createWriteStream, statSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliCompress } from "node:zlib";
import { replaceFile, temporaryName } from "../ingest/write-atomically.js";
import type { PublishedFile } from "./manifest.js";

/** Windows of 16 MiB: an index repeats itself over long distances. */
const WINDOW_BITS = 24;
const CHUNK_BYTES = 1024 * 1024;

export interface CompressOptions {
  /** Brotli's 0 to 11. */
  quality: number;
  signal?: AbortSignal;
  onBytes?: (bytes: number) => void;
}

/** Compresses a stream into a file that appears only when it is whole. */
export async function compressTo(
  path: string,
  name: string,
  source: Readable,
  options: CompressOptions,
): Promise<PublishedFile> {
  const temporary = temporaryName(path);
  const digest = createHash("sha256");
  const compressor = createBrotliCompress({
    chunkSize: CHUNK_BYTES,
    params: {
      [constants.BROTLI_PARAM_QUALITY]: options.quality,
      [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
    },
  });
  try {
    await pipeline(
      source,
      countBytes((bytes) => options.onBytes?.(bytes)),
      compressor,
      hashBytes(digest),
      createWriteStream(temporary),
      options.signal === undefined ? {} : { signal: options.signal },
    );
    const file = await open(temporary, "r");
    await file.sync();
    await file.close();
    const { size } = statSync(temporary);
    replaceFile(temporary, path);
    return { file: name, size, sha256: digest.digest("hex") };
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** SHA-256 of a file, in hex. */
export async function hashFile(path: string): Promise<string> {
  const digest = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    digest.update(chunk as Buffer);
  }
  return digest.digest("hex");
}

/** Passes bytes on and sums them up. */
export function hashBytes(digest: Hash): Transform {
  return passThrough((chunk) => digest.update(chunk));
}

/** Passes bytes on and tells how many have passed. */
export function countBytes(onBytes: (bytes: number) => void): Transform {
  let bytes = 0;
  return passThrough((chunk) => {
    bytes += chunk.length;
    onBytes(bytes);
  });
}

function passThrough(look: (chunk: Buffer) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        look(chunk);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
}
