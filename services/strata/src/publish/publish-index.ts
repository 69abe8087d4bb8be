import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { writeTextAtomically } from "../ingest/write-atomically.js";
import { FORMAT_NUMBER } from "../store/file-format.js";
import { formatTimestamp } from "../store/format-timestamp.js";
import { openIndex } from "../store/index.js";
import { compressTo, hashFile } from "./compress-file.js";
import { writeDelta } from "./index-delta.js";
import {
  formatManifest,
  MANIFEST_FORMAT,
  MANIFEST_NAME,
  type Manifest,
  type PublishedDelta,
  parseManifest,
  SIGNATURE_SUFFIX,
} from "./manifest.js";
import type { SecretKey } from "./minisign-keys.js";
import { signMessage } from "./minisign-signature.js";

export interface PublishOptions {
  indexPath: string;
  /** The folder that a web server serves. */
  folder: string;
  /** Signs the manifest; null leaves it unsigned. */
  secretKey: SecretKey | null;
  /** Older index files from which a difference is published, too. */
  since: readonly string[];
  /** Brotli's 0 to 11. */
  quality: number;
  signal?: AbortSignal;
  onProgress?: (state: { label: string; done?: number; total?: number }) => void;
  now?: () => number;
}

/** An index that cannot be published. */
export class PublishError extends Error {
  override name = "PublishError";
}

/** Lines of a delta are handed to the compressor in pieces of about this size. */
const DELTA_CHUNK_CHARACTERS = 256 * 1024;
/** What this program has put into a folder and may take away again. */
const PUBLISHED_NAME = /^(?:index-[0-9a-f]{16}\.strata|delta-[0-9a-f]{16}-[0-9a-f]{16})\.br$/;

/** Writes the index, its differences, the manifest and its signature; the manifest last, so that it never names a file that is not there. */
export async function publishIndex(options: PublishOptions): Promise<Manifest> {
  const { indexPath, folder, onProgress } = options;
  const index = await openIndex(indexPath);
  const { fingerprint, statistics, meta } = index.header;
  if (meta.sample === true) {
    throw new PublishError("This is the built-in sample. Publish an index of your own: make one with 'strata ingest'.");
  }
  if (statistics.lastIndexedCommit === null || statistics.lastIndexedDate === null) {
    throw new PublishError("The index is empty: there is nothing to publish.");
  }
  mkdirSync(folder, { recursive: true });
  const previous = readPrevious(folder);
  const compress = { quality: options.quality, ...(options.signal === undefined ? {} : { signal: options.signal }) };

  const { size } = statSync(indexPath);
  const name = `index-${fingerprint}.strata.br`;
  const full = await compressTo(join(folder, name), name, createReadStream(indexPath), {
    ...compress,
    onBytes: (done) => onProgress?.({ label: "compressing the index", done, total: size }),
  });
  const deltas: PublishedDelta[] = [];
  for (const path of options.since) {
    onProgress?.({ label: `comparing with ${path}` });
    const from = await openIndex(path);
    if (from.header.fingerprint !== fingerprint) {
      const name = `delta-${from.header.fingerprint}-${fingerprint}.br`;
      const file = await compressTo(
        join(folder, name),
        name,
        Readable.from(inChunks(writeDelta(from, index))),
        compress,
      );
      deltas.push({ from: from.header.fingerprint, ...file });
    }
  }
  const manifest: Manifest = {
    format: MANIFEST_FORMAT,
    commit: statistics.lastIndexedCommit,
    date: formatTimestamp(statistics.lastIndexedDate),
    size,
    sha256: await hashFile(indexPath),
    fingerprint,
    index_format: FORMAT_NUMBER,
    ranges: statistics.totalRanges,
    full,
    deltas,
  };
  writeManifest(folder, manifest, options);
  removeOutdated(folder, [manifest, ...(previous === null ? [] : [previous])]);
  return manifest;
}

function writeManifest(folder: string, manifest: Manifest, { secretKey, now = Date.now }: PublishOptions): void {
  const path = join(folder, MANIFEST_NAME);
  const text = formatManifest(manifest);
  if (secretKey === null) {
    rmSync(path + SIGNATURE_SUFFIX, { force: true });
  } else {
    const seconds = Math.floor(now() / 1000);
    const trustedComment = `timestamp:${seconds}\tfile:${MANIFEST_NAME}\thashed`;
    writeTextAtomically(path + SIGNATURE_SUFFIX, signMessage(Buffer.from(text), secretKey, { trustedComment }));
  }
  writeTextAtomically(path, text);
}

function readPrevious(folder: string): Manifest | null {
  const path = join(folder, MANIFEST_NAME);
  try {
    return existsSync(path) ? parseManifest(readFileSync(path, "utf8")) : null;
  } catch {
    return null;
  }
}

/** Files of this manifest and of the one before stay: someone may be in the middle of fetching them. */
function removeOutdated(folder: string, kept: readonly Manifest[]): void {
  const names = new Set(kept.flatMap(({ full, deltas }) => [full.file, ...deltas.map((delta) => delta.file)]));
  for (const name of readdirSync(folder)) {
    if (PUBLISHED_NAME.test(name) && !names.has(name)) {
      rmSync(join(folder, name));
    }
  }
}

function* inChunks(lines: Iterable<string>): Generator<Buffer> {
  let chunk = "";
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length >= DELTA_CHUNK_CHARACTERS) {
      yield Buffer.from(chunk);
      chunk = "";
    }
  }
  yield Buffer.from(chunk);
}
