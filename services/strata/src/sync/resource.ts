import { createReadStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { fileURLToPath } from "node:url";
import { type FetchOptions, fetchWithRetry, HttpStatusError } from "./fetch-with-retry.js";

/** A published folder, on a web server or in a file system. */
export interface PublishedFolder {
  /** The whole of a small file; null when it is not there. Throws when it is larger than `most` bytes. */
  readSmall(name: string, most: number): Promise<Buffer | null>;
  /** The bytes of a file from an offset on; `from` says at which offset they really start. */
  openFrom(name: string, offset: number): Promise<{ from: number; body: Readable }>;
}

export class ResourceError extends Error {
  override name = "ResourceError";
}

/** Splits a manifest's location into the folder and the manifest's own name. */
export function openPublishedFolder(
  manifestLocation: string,
  fetchOptions: FetchOptions,
): { folder: PublishedFolder; manifestName: string } {
  if (/^https?:\/\//.test(manifestLocation)) {
    const url = new URL(manifestLocation);
    const manifestName = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf("/") + 1)) || "manifest.json";
    return { folder: openServer(new URL(".", url), fetchOptions), manifestName };
  }
  const path = manifestLocation.startsWith("file:") ? fileURLToPath(manifestLocation) : manifestLocation;
  const isManifest = path.endsWith(".json");
  const cut = path.lastIndexOf("/");
  return {
    folder: openFolder(isManifest ? (cut < 0 ? "." : path.slice(0, cut) || "/") : path),
    manifestName: isManifest ? path.slice(cut + 1) : "manifest.json",
  };
}

function openServer(base: URL, fetchOptions: FetchOptions): PublishedFolder {
  const urlOf = (name: string) => new URL(encodeURIComponent(name), base).href;
  // The bytes on disk are what was hashed: nothing on the way may recompress them.
  const headers = { ...fetchOptions.headers, "accept-encoding": "identity" };
  return {
    async readSmall(name, most) {
      const response = await fetchWithRetry(urlOf(name), { ...fetchOptions, headers, accept: [404] });
      if (response.status === 404) {
        await response.body?.cancel();
        return null;
      }
      return readAtMost(name, Readable.fromWeb(response.body as ReadableStream<Uint8Array>), most);
    },
    async openFrom(name, offset) {
      const url = urlOf(name);
      const range = offset > 0 ? { range: `bytes=${offset}-` } : {};
      const response = await fetchWithRetry(url, {
        ...fetchOptions,
        headers: { ...headers, ...range },
        accept: [416],
      });
      if (response.status === 416) {
        await response.body?.cancel();
        return offset > 0 ? this.openFrom(name, 0) : Promise.reject(new HttpStatusError(url, 416));
      }
      const from = response.status === 206 ? rangeStart(response) : 0;
      if (from !== offset && from !== 0) {
        await response.body?.cancel();
        return this.openFrom(name, 0);
      }
      return { from, body: Readable.fromWeb(response.body as ReadableStream<Uint8Array>) };
    },
  };
}

function openFolder(path: string): PublishedFolder {
  return {
    async readSmall(name, most) {
      const file = join(path, name);
      return existsSync(file) ? readAtMost(name, Readable.from([readFileSync(file)]), most) : null;
    },
    async openFrom(name, offset) {
      const file = join(path, name);
      if (!existsSync(file)) {
        throw new ResourceError(`${file} is not there.`);
      }
      return { from: offset, body: createReadStream(file, { start: offset }) };
    },
  };
}

async function readAtMost(name: string, body: Readable, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > most) {
      body.destroy();
      throw new ResourceError(`${name} is larger than ${most} bytes, which it never is.`);
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function rangeStart(response: Response): number {
  const match = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "");
  return match === null ? -1 : Number(match[1]);
}
