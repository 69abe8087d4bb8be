import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { constants, createBrotliDecompress } from "node:zlib";
import { replaceFile } from "../ingest/write-atomically.js";
import { countBytes, hashBytes, hashFile } from "../publish/compress-file.js";
import { applyDelta, readDeltaHeader } from "../publish/index-delta.js";
import {
  LARGEST_MANIFEST_BYTES,
  type Manifest,
  type PublishedDelta,
  type PublishedFile,
  parseManifest,
  SIGNATURE_SUFFIX,
} from "../publish/manifest.js";
import type { PublicKey } from "../publish/minisign-keys.js";
import { SignatureError, verifySignature } from "../publish/minisign-signature.js";
import { FORMAT_NUMBER } from "../store/file-format.js";
import { type IndexHeader, openIndex, readIndexHeader, writeIndex } from "../store/index.js";
import { downloadFile } from "./download-file.js";
import type { FetchOptions } from "./fetch-with-retry.js";
import { openPublishedFolder, type PublishedFolder } from "./resource.js";

/**
 * Fetches the published index. Whatever arrives is made and checked under other names; the index in use is replaced, by one rename, only by a file that has the
 * size and hash of a manifest with a good signature.
 */

export interface SyncOptions {
  /** Address or path of the manifest. */
  manifest: string;
  indexPath: string;
  /** null: the signature is not looked at. */
  publicKey: PublicKey | null;
  /** Take an index that is older than the one in use. */
  allowOlder: boolean;
  signal: AbortSignal;
  log(line: string): void;
  onProgress?: (state: { label: string; done?: number; total?: number }) => void;
  fetchOptions?: FetchOptions;
}

export interface SyncResult {
  /** How the index came: not at all, as a difference, or whole. */
  kind: "up-to-date" | "delta" | "full";
  manifest: Manifest;
  /** Bytes fetched. */
  downloaded: number;
}

/** The published index must not be taken. */
export class SyncError extends Error {
  override name = "SyncError";
}

/** A publisher replaces manifest and signature one after the other: a pair that does not match is fetched again this often. */
const MANIFEST_ATTEMPTS = 3;
const MANIFEST_WAIT_MS = 700;

export async function syncIndex(options: SyncOptions): Promise<SyncResult> {
  const { indexPath } = options;
  const { folder, manifestName } = openPublishedFolder(options.manifest, {
    ...options.fetchOptions,
    signal: options.signal,
  });
  options.onProgress?.({ label: "fetching the manifest" });
  const manifest = await fetchManifest(folder, manifestName, options);
  const current = await currentHeader(indexPath);
  if (current?.fingerprint === manifest.fingerprint) {
    return { kind: "up-to-date", manifest, downloaded: 0 };
  }
  refuseUnfit(manifest, current, options);
  const work = `${indexPath}.sync`;
  mkdirSync(work, { recursive: true });
  removeOthers(work, manifest);
  const made = join(work, `made-${manifest.fingerprint}`);
  const delta = chooseDelta(manifest, current);
  const kind = delta !== null && (await tryDelta(folder, delta, manifest, made, work, options)) ? "delta" : "full";
  if (kind === "full") {
    await makeFromFull(folder, manifest, made, work, options);
  }
  // The hash was right, so this can only fail when the publisher published something broken.
  await openIndex(made);
  options.signal.throwIfAborted();
  replaceFile(made, indexPath);
  rmSync(work, { recursive: true, force: true });
  return { kind, manifest, downloaded: kind === "delta" ? delta!.size : manifest.full.size };
}

async function fetchManifest(folder: PublishedFolder, name: string, options: SyncOptions): Promise<Manifest> {
  for (let attempt = 1; ; attempt++) {
    const bytes = await folder.readSmall(name, LARGEST_MANIFEST_BYTES);
    if (bytes === null) {
      throw new SyncError(`There is no manifest at ${options.manifest}. Check the address.`);
    }
    if (options.publicKey === null) {
      return parseManifest(bytes.toString("utf8"));
    }
    const signature = await folder.readSmall(name + SIGNATURE_SUFFIX, LARGEST_MANIFEST_BYTES);
    try {
      if (signature === null) {
        throw new SignatureError(`It has no signature (${name}${SIGNATURE_SUFFIX}).`);
      }
      verifySignature(bytes, signature.toString("utf8"), options.publicKey);
      return parseManifest(bytes.toString("utf8"));
    } catch (error) {
      if (!(error instanceof SignatureError)) {
        throw error;
      }
      if (attempt >= MANIFEST_ATTEMPTS) {
        throw new SyncError(
          `The manifest at ${options.manifest} cannot be trusted. ${error.message} The index in use is untouched.`,
        );
      }
      await sleep(MANIFEST_WAIT_MS, undefined, { signal: options.signal });
    }
  }
}

/** The header of the index in use; null when there is none that can be used. */
async function currentHeader(path: string): Promise<IndexHeader | null> {
  try {
    return existsSync(path) ? await readIndexHeader(path) : null;
  } catch {
    return null;
  }
}

function refuseUnfit(manifest: Manifest, current: IndexHeader | null, { allowOlder }: SyncOptions): void {
  if (manifest.index_format !== FORMAT_NUMBER) {
    throw new SyncError(
      `The published index has format ${manifest.index_format}; this program reads format ${FORMAT_NUMBER}. ` +
        (manifest.index_format > FORMAT_NUMBER
          ? "Update strata."
          : "Ask the publisher for an index of today's format."),
    );
  }
  const published = Date.parse(manifest.date) / 1000;
  const inUse = current?.meta.sample === true ? null : (current?.statistics.lastIndexedDate ?? null);
  if (inUse !== null && published < inUse && !allowOlder) {
    throw new SyncError(
      `The published index (${manifest.date}) is older than the one in use (${new Date(inUse * 1000).toISOString()}). ` +
        "An old manifest may have been put in the way; give --allow-older if you mean it.",
    );
  }
}

function chooseDelta(manifest: Manifest, current: IndexHeader | null): PublishedDelta | null {
  const delta = manifest.deltas.find((candidate) => candidate.from === current?.fingerprint);
  return delta !== undefined && delta.size < manifest.full.size ? delta : null;
}

/** Makes the new index from the one in use and a difference. False when that does not work out: the whole index then will. */
async function tryDelta(
  folder: PublishedFolder,
  delta: PublishedDelta,
  manifest: Manifest,
  made: string,
  work: string,
  options: SyncOptions,
): Promise<boolean> {
  try {
    const path = await fetchPart(folder, delta, work, options);
    options.onProgress?.({ label: "applying the difference" });
    const current = await openIndex(options.indexPath);
    const text = createReadStream(path).pipe(decompressor());
    const lines = createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
    const failed = new Promise<never>((_, fail) => text.on("error", fail));
    failed.catch(() => {});
    const header = readDeltaHeader(
      (await Promise.race([lines.next(), failed])).value ?? "{}",
      current.header.fingerprint,
    );
    const records = applyDelta(current, { [Symbol.asyncIterator]: () => lines });
    await Promise.race([writeIndex(records, header.meta, made, { signal: options.signal }), failed]);
    await checkMade(made, manifest);
    return true;
  } catch (error) {
    options.signal.throwIfAborted();
    rmSync(made, { force: true });
    options.log(`The difference could not be used (${(error as Error).message}); fetching the whole index.`);
    return false;
  }
}

async function makeFromFull(
  folder: PublishedFolder,
  manifest: Manifest,
  made: string,
  work: string,
  options: SyncOptions,
): Promise<void> {
  const path = await fetchPart(folder, manifest.full, work, options);
  const digest = createHash("sha256");
  let bytes = 0;
  const guard = countBytes((passed) => {
    bytes = passed;
    // A small download may decompress to anything: stop as soon as it is too much.
    if (passed > manifest.size) {
      throw new SyncError(mismatch("it is larger than promised"));
    }
    options.onProgress?.({ label: "unpacking", done: passed, total: manifest.size });
  });
  try {
    await pipeline(createReadStream(path), decompressor(), guard, hashBytes(digest), createWriteStream(made), {
      signal: options.signal,
    });
  } catch (error) {
    rmSync(made, { force: true });
    if (
      (error as NodeJS.ErrnoException).code?.startsWith("ERR_") ||
      (error as NodeJS.ErrnoException).code?.startsWith("Z_")
    ) {
      throw new SyncError(mismatch("it cannot be decompressed"));
    }
    throw error;
  }
  if (bytes !== manifest.size || digest.digest("hex") !== manifest.sha256) {
    rmSync(work, { recursive: true, force: true });
    throw new SyncError(mismatch("its size or SHA-256 differs"));
  }
  const file = await open(made, "r");
  await file.sync();
  await file.close();
}

async function checkMade(made: string, manifest: Manifest): Promise<void> {
  if ((await hashFile(made)) !== manifest.sha256) {
    throw new SyncError(mismatch("its SHA-256 differs"));
  }
}

function mismatch(reason: string): string {
  return `The index that was fetched is not the one that the manifest describes: ${reason}. The index in use is untouched.`;
}

async function fetchPart(
  folder: PublishedFolder,
  file: PublishedFile,
  work: string,
  { signal, onProgress }: SyncOptions,
): Promise<string> {
  const path = join(work, partName(file));
  const label = `fetching ${file.file}`;
  await downloadFile(folder, file, path, {
    signal,
    onBytes: (done) => onProgress?.({ label, done, total: file.size }),
  });
  return path;
}

/** The hash in the name: what is left of an interrupted download is taken up only by the very same file. */
function partName(file: PublishedFile): string {
  return `part-${file.sha256}`;
}

function removeOthers(work: string, manifest: Manifest): void {
  const wanted = new Set([manifest.full, ...manifest.deltas].map(partName));
  for (const name of readdirSync(work)) {
    if (!wanted.has(name)) {
      rmSync(join(work, name), { recursive: true, force: true });
    }
  }
}

function decompressor() {
  return createBrotliDecompress({ params: { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 } });
}
