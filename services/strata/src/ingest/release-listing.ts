import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { type FetchOptions, fetchWithRetry } from "../sync/fetch-with-retry.js";
import { decompress } from "./read-snapshot.js";
import { compareReleases, parseReleaseName, type ReleaseName } from "./release-name.js";

/** The releases of one channel: on a server that lists as S3 does, or in a folder with the same layout. */
export interface ReleaseListing {
  /** The channel's name, as in `nixos/unstable`. */
  channel: string;
  /** All releases, newest first. */
  list(): Promise<ReleaseName[]>;
  /** Commit and date of a release. */
  describe(release: ReleaseName): Promise<{ commit: string; date: number }>;
  /** The decompressed package list of a release, or null when it has none. */
  open(release: ReleaseName): Promise<AsyncIterable<Uint8Array> | null>;
}

/** Releases before March 2020 have neither. */
const PACKAGE_LISTS = ["packages.json.br", "packages.json"];
const COMMIT = /^[0-9a-f]{40}$/;

export class ReleaseError extends Error {
  override name = "ReleaseError";
}

export function openReleaseListing(location: string, fetchOptions: FetchOptions): ReleaseListing {
  return /^https?:\/\//.test(location) ? listServer(location, fetchOptions) : listFolder(location);
}

/**
 * `https://bucket.example/nixos/unstable/` or `https://host.example/bucket?prefix=nixos/unstable/`: the bucket is what stands before the path or the query.
 */
function listServer(location: string, fetchOptions: FetchOptions): ReleaseListing {
  const url = new URL(location);
  const fromQuery = url.searchParams.get("prefix");
  const prefix = `${trimSlashes(fromQuery ?? decodeURIComponent(url.pathname))}/`;
  const bucket = fromQuery === null ? url.origin : `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  const fileUrl = (release: ReleaseName, file: string) =>
    `${bucket}/${`${prefix}${release.name}/${file}`.split("/").map(encodeURIComponent).join("/")}`;
  return {
    channel: trimSlashes(prefix),
    list: () => listBucket(bucket, prefix, fetchOptions),
    async describe(release) {
      const response = await fetchWithRetry(fileUrl(release, "git-revision"), fetchOptions);
      const date = Date.parse(response.headers.get("last-modified") ?? "");
      return checkDescription(release, (await response.text()).trim(), date);
    },
    async open(release) {
      for (const file of PACKAGE_LISTS) {
        const response = await fetchWithRetry(fileUrl(release, file), { ...fetchOptions, accept: [404, 403] });
        if (response.ok && response.body !== null) {
          // A server that sets content-encoding has had its body decompressed by fetch.
          const name = response.headers.get("content-encoding") === "br" ? "packages.json" : file;
          return decompress(name, Readable.fromWeb(response.body as ReadableStream<Uint8Array>));
        }
        await response.body?.cancel();
      }
      return null;
    },
  };
}

/** Walks the pages of a listing (ListObjectsV2): folders come as CommonPrefixes, the next page by its continuation token. */
async function listBucket(bucket: string, prefix: string, fetchOptions: FetchOptions): Promise<ReleaseName[]> {
  const releases = new Map<string, ReleaseName>();
  let token: string | null = null;
  do {
    const query = new URLSearchParams({ "list-type": "2", delimiter: "/", prefix });
    if (token !== null) {
      query.set("continuation-token", token);
    }
    const page: string = await (await fetchWithRetry(`${bucket}/?${query}`, fetchOptions)).text();
    if (!page.includes("<ListBucketResult")) {
      throw new ReleaseError(
        `${bucket}/?${query} did not answer with a bucket listing. Give the address of the bucket (such as https://nix-releases.s3.amazonaws.com/nixos/unstable/), not of a web page.`,
      );
    }
    for (const folder of elements(elements(page, "CommonPrefixes").join(""), "Prefix")) {
      const release = parseReleaseName(trimSlashes(folder.slice(prefix.length)));
      if (release !== null) {
        releases.set(release.name, release);
      }
    }
    const next: string | null = elements(page, "NextContinuationToken")[0] ?? null;
    token = elements(page, "IsTruncated")[0] === "true" && next !== token ? next : null;
  } while (token !== null);
  return [...releases.values()].sort(compareReleases);
}

/** The texts of an XML element, wherever it stands. A listing has five kinds of elements and no attributes that matter: no need for an XML parser. */
function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, "g"))].map((match) =>
    match[1]!.includes("<") ? match[1]! : decodeEntities(match[1]!),
  );
}

function decodeEntities(text: string): string {
  const named: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (decimal !== undefined || hex !== undefined) {
      return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
    }
    return named[name.toLowerCase()] ?? whole;
  });
}

function listFolder(location: string): ReleaseListing {
  const fileOf = (release: ReleaseName, file: string) => join(location, release.name, file);
  return {
    channel: basename(join(location, ".")),
    async list() {
      return readdirSync(location)
        .map(parseReleaseName)
        .filter((release) => release !== null)
        .sort(compareReleases);
    },
    async describe(release) {
      const path = fileOf(release, "git-revision");
      if (!existsSync(path)) {
        throw new ReleaseError(`${release.name} has no git-revision.`);
      }
      return checkDescription(release, readFileSync(path, "utf8").trim(), statSync(path).mtimeMs);
    },
    async open(release) {
      const file = PACKAGE_LISTS.map((name) => fileOf(release, name)).find((path) => existsSync(path));
      return file === undefined ? null : decompress(file, createReadStream(file));
    },
  };
}

function checkDescription(
  release: ReleaseName,
  commit: string,
  milliseconds: number,
): { commit: string; date: number } {
  if (!COMMIT.test(commit) || !commit.startsWith(release.shortRevision)) {
    throw new ReleaseError(`git-revision of ${release.name} says "${commit.slice(0, 60)}", which is not its commit.`);
  }
  if (!Number.isFinite(milliseconds)) {
    throw new ReleaseError(`git-revision of ${release.name} has no date of modification.`);
  }
  return { commit, date: Math.floor(milliseconds / 1000) };
}

function trimSlashes(path: string): string {
  return path.replace(/^\/+|\/+$/g, "");
}
