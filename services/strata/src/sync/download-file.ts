import { once } from "node:events";
import { createWriteStream, existsSync, rmSync, statSync } from "node:fs";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { hashFile } from "../publish/compress-file.js";
import type { PublishedFile } from "../publish/manifest.js";
import type { PublishedFolder } from "./resource.js";

/** A download that is not what was promised. */
export class DownloadError extends Error {
  override name = "DownloadError";
}

/** A connection that breaks is taken up again where it broke; this often without a single new byte, and the download has failed. */
const FRUITLESS_ATTEMPTS = 4;
const FIRST_WAIT_MS = 250;

export interface DownloadOptions {
  signal: AbortSignal;
  onBytes?: (bytes: number) => void;
}

/**
 * Fetches a published file into `path`, going on from what an interrupted download left there. The result has the promised size and hash, or is deleted.
 */
export async function downloadFile(
  folder: PublishedFolder,
  wanted: PublishedFile,
  path: string,
  options: DownloadOptions,
): Promise<void> {
  for (let fruitless = 0; sizeOf(path) < wanted.size; ) {
    options.signal.throwIfAborted();
    const before = sizeOf(path);
    try {
      await fetchRest(folder, wanted, path, options);
    } catch (error) {
      if (options.signal.aborted || error instanceof DownloadError) {
        throw error;
      }
      fruitless = sizeOf(path) > before ? 0 : fruitless + 1;
      if (fruitless >= FRUITLESS_ATTEMPTS) {
        throw error;
      }
      await sleep(FIRST_WAIT_MS * 2 ** fruitless, undefined, { signal: options.signal });
    }
    if (sizeOf(path) === before && ++fruitless >= FRUITLESS_ATTEMPTS) {
      throw new DownloadError(`${wanted.file} ends after ${before} of ${wanted.size} bytes. Try again later.`);
    }
  }
  if (sizeOf(path) !== wanted.size || (await hashFile(path)) !== wanted.sha256) {
    rmSync(path, { force: true });
    throw new DownloadError(
      `${wanted.file} is not the file that the manifest describes: its size or SHA-256 differs. It was thrown away; the index in use is untouched.`,
    );
  }
}

async function fetchRest(
  folder: PublishedFolder,
  wanted: PublishedFile,
  path: string,
  { signal, onBytes }: DownloadOptions,
): Promise<void> {
  const { from, body } = await folder.openFrom(wanted.file, sizeOf(path));
  const file = createWriteStream(path, { flags: from === 0 ? "w" : "a" });
  const stop = () => body.destroy(new Error("interrupted"));
  signal.addEventListener("abort", stop);
  let bytes = from;
  try {
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      if (bytes > wanted.size) {
        throw new DownloadError(
          `${wanted.file} is longer than the ${wanted.size} bytes that the manifest promises. It was thrown away; the index in use is untouched.`,
        );
      }
      if (!file.write(chunk)) {
        await once(file, "drain");
      }
      onBytes?.(bytes);
    }
  } catch (error) {
    if (error instanceof DownloadError) {
      file.destroy();
      rmSync(path, { force: true });
    }
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    body.destroy();
    file.end();
    await finished(file).catch(() => {});
  }
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}
