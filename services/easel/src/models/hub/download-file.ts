/** One file from the hub to the disk: resumed where an earlier try stopped, checked by size and hash, renamed when it is whole. */
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { errors } from "../../contract/errors.js";
import { type Hub, type HubFile, TransientHubError } from "./hub-client.js";

export interface DownloadOptions {
  readonly hub: Hub;
  readonly repository: string;
  readonly path: string;
  readonly expected: HubFile;
  /** where the whole file goes */
  readonly target: string;
  readonly signal: AbortSignal;
  /** bytes that are on disk */
  readonly onBytes: (bytes: number) => void;
  readonly stallMs?: number;
  readonly retryDelayMs?: number;
}

/** Tries in a row that bring no byte. */
const MAX_FRUITLESS_TRIES = 5;
/** A connection that sends nothing for this long is dead. */
const STALL_MS = 30_000;
const RETRY_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;

/** Its name carries the identity (the ETag) of the content, so that a file that changed on the hub is never glued to an old beginning. */
export const partialPath = (target: string, file: HubFile) =>
  `${target}.${(file.sha256 ?? file.gitId ?? String(file.size)).slice(0, 16)}.partial`;

export async function downloadFile(options: DownloadOptions): Promise<void> {
  const { target, expected, signal, retryDelayMs = RETRY_DELAY_MS } = options;
  const partial = partialPath(target, expected);
  await mkdir(dirname(target), { recursive: true });
  await removeOutdated(target, partial);
  let fruitless = 0;
  for (;;) {
    const before = await sizeOf(partial);
    try {
      await fetchRest(options, partial);
      break;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TransientHubError)) throw error;
      fruitless = (await sizeOf(partial)) > before ? 0 : fruitless + 1;
      if (fruitless >= MAX_FRUITLESS_TRIES) {
        throw errors.HUB_ERROR(
          `Downloading '${options.path}' failed ${fruitless} times: ${error.message}. What arrived is kept; pull again to go on.`,
          { cause: error },
        );
      }
      const delay = Math.min(LONGEST_DELAY_MS, error.retryAfterMs ?? retryDelayMs * 2 ** fruitless);
      await wait(delay, undefined, { signal });
    }
  }
  await rename(partial, target);
}

/** Brings the partial file to its full length and checks it. Throws TransientHubError if another try can help. */
async function fetchRest(options: DownloadOptions, partial: string): Promise<void> {
  const { expected, path, onBytes } = options;
  const hash = createContentHash(expected);
  const file = await open(partial, "a");
  try {
    let have = await hashExisting(partial, hash);
    if (have > expected.size) {
      await file.truncate(0);
      throw new TransientHubError("the partial file was too long");
    }
    onBytes(have);
    if (have < expected.size || expected.size === 0) have = await append(options, file, hash, have);
    if (have < expected.size) throw new TransientHubError(`the connection ended at byte ${have} of ${expected.size}`);
    const identity = expected.sha256 ?? expected.gitId;
    if (identity !== undefined && hash.digest("hex") !== identity) {
      await rm(partial, { force: true });
      throw errors.HUB_ERROR(
        `'${path}' arrived whole but its ${expected.sha256 ? "SHA-256" : "git id"} is not the hub's. It was deleted; pull again.`,
      );
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function append(options: DownloadOptions, file: FileHandle, hash: Hash, have: number): Promise<number> {
  const { hub, repository, path, expected, signal, onBytes, stallMs = STALL_MS } = options;
  const stall = new AbortController();
  let timer = setTimeout(() => stall.abort(), stallMs);
  let position = have;
  try {
    const body = await hub.openFile(repository, path, have, AbortSignal.any([signal, stall.signal]));
    if (body.total !== undefined && body.total !== expected.size) {
      await body.stream.cancel();
      throw errors.HUB_ERROR(`The hub lists '${path}' with ${expected.size} bytes but sends ${body.total}.`);
    }
    if (changed(body.etag, expected)) {
      await body.stream.cancel();
      throw errors.HUB_ERROR(`The hub sends another '${path}' than the one it lists. Pull again.`);
    }
    if (body.from !== have) {
      await body.stream.cancel();
      await file.truncate(0);
      throw new TransientHubError("the hub could not go on in the middle");
    }
    for await (const chunk of body.stream) {
      clearTimeout(timer);
      timer = setTimeout(() => stall.abort(), stallMs);
      if (position + chunk.length > expected.size) {
        await file.truncate(0);
        throw errors.HUB_ERROR(`The hub sends more than the ${expected.size} bytes it lists for '${path}'.`);
      }
      await write(file, chunk);
      hash.update(chunk);
      position += chunk.length;
      onBytes(position);
    }
    return position;
  } catch (error) {
    if (stall.signal.aborted) throw new TransientHubError(`no byte came for ${stallMs / 1_000} s`);
    // A connection cut in the middle of the body is a TypeError of fetch.
    if (error instanceof TypeError) throw new TransientHubError("the connection was cut", undefined, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A hub that says which content it sends must send the one it listed; other etags (of a CDN) say nothing to us. */
function changed(etag: string | undefined, expected: HubFile): boolean {
  if (etag === undefined) return false;
  if (expected.sha256) return /^[0-9a-f]{64}$/.test(etag) && etag !== expected.sha256;
  return expected.gitId !== undefined && /^[0-9a-f]{40}$/.test(etag) && etag !== expected.gitId;
}

async function write(file: FileHandle, chunk: Uint8Array): Promise<void> {
  try {
    await file.appendFile(chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") throw errors.INSUFFICIENT_STORAGE("The disk is full.");
    throw errors.STORAGE_ERROR(`Writing failed: ${(error as Error).message}`, { cause: error });
  }
}

function createContentHash(expected: HubFile): Hash {
  if (expected.sha256) return createHash("sha256");
  // Git hashes a small header before the content.
  return createHash("sha1").update(`blob ${expected.size}\0`);
}

async function hashExisting(path: string, hash: Hash): Promise<number> {
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return bytes;
}

async function removeOutdated(target: string, current: string): Promise<void> {
  const folder = dirname(target);
  for (const entry of await readdir(folder)) {
    const mine = entry.startsWith(`${basename(target)}.`) && entry.endsWith(".partial");
    if (mine && join(folder, entry) !== current) await rm(join(folder, entry), { force: true });
  }
}

const sizeOf = async (path: string) => (await stat(path).catch(() => undefined))?.size ?? 0;
