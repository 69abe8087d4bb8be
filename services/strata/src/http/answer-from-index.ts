import { type BytesAnswer, bytes, type RouteRequest } from "@kit/http-kernel";
import { errors } from "../contract/errors.js";
import type { PackageIndex } from "../query/package-index.js";
import type { Admission } from "./admission.js";
import type { IndexSource } from "./index-source.js";
import type { PageCache } from "./page-cache.js";

/** What the routes stand on. */
export interface Answering {
  readonly source: IndexSource;
  readonly admission: Admission;
  readonly pages: PageCache;
  /** Version of the server: part of every ETag, since another version may write another answer. */
  readonly version: string;
}

/** The same address on the same index is the same answer: a validator needs no look at the bytes. */
export function etagOf(index: PackageIndex, url: string, version: string): string {
  return `${index.header.fingerprint}-${hashText(url, hashText(version, HASH_START)).toString(36)}`;
}

const HASH_START = 0x811c9dc5;

/** FNV-1a over the characters: a tenth of a microsecond for an address, where a library's hash takes several. */
function hashText(text: string, start: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** For a 304 before any work; not while a new index is being opened, since the answer would be its. */
export function knownEtag({ source, version }: Answering, request: Pick<RouteRequest, "url">): string | undefined {
  if (source.isLoading || source.loaded === undefined) return undefined;
  return etagOf(source.loaded, request.url, version);
}

/** Answers from the index with ready bytes: kept ones, or those that `compute` makes when it is this request's turn. */
export function answerFromIndex(
  answering: Answering,
  request: Pick<RouteRequest, "url">,
  compute: (index: PackageIndex) => Buffer,
): BytesAnswer | Promise<BytesAnswer> {
  const found = answering.source.current();
  if (found instanceof Promise) return found.then((index) => answerNow(answering, request, index, compute));
  return answerNow(answering, request, found, compute);
}

function answerNow(
  { admission, pages, version }: Answering,
  { url }: Pick<RouteRequest, "url">,
  index: PackageIndex | undefined,
  compute: (index: PackageIndex) => Buffer,
): BytesAnswer | Promise<BytesAnswer> {
  if (index === undefined) {
    throw errors.SERVICE_UNAVAILABLE(
      "There is no package index yet. Make or fetch one ('strata ingest', 'strata sync').",
    );
  }
  // Pages belong to an index; the cache is emptied with it, but a request of the old one may still be under way.
  const address = `${index.header.fingerprint} ${url}`;
  const finish = (page: Buffer) => bytes(page, { contentType: "application/json", etag: etagOf(index, url, version) });
  const kept = pages.get(address);
  if (kept !== undefined) return finish(kept);
  const page = admission.run(() => compute(index));
  if (!(page instanceof Promise)) {
    pages.keep(address, page);
    return finish(page);
  }
  return page.then((ready) => {
    pages.keep(address, ready);
    return finish(ready);
  });
}
