/**
 * The two questions we ask a Hugging Face-compatible hub: which files does a repository have, and give me this one from that byte on.
 * Written on fetch rather than on the hub's own package because the token must not follow redirects to other hosts,
 * and because a pull resumes in the middle of a file.
 */
import { errors } from "../../contract/errors.js";

export interface HubFile {
  readonly size: number;
  /** of the content, for files in large-file storage */
  readonly sha256?: string;
  /** git's object id, for all others */
  readonly gitId?: string;
}

interface HubBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** first byte of the stream inside the file: not always the one that was asked for */
  readonly from: number;
  /** size of the whole file as this answer states it */
  readonly total: number | undefined;
  readonly etag: string | undefined;
}

export interface Hub {
  listFiles(repository: string, signal: AbortSignal): Promise<ReadonlyMap<string, HubFile>>;
  openFile(repository: string, path: string, from: number, signal: AbortSignal): Promise<HubBody>;
}

export interface HubOptions {
  readonly endpoint: string;
  readonly token?: string | undefined;
  readonly fetch?: typeof fetch;
}

/** An answer that may be better next time: the network, 429, 5xx. */
export class TransientHubError extends Error {
  override readonly name = "TransientHubError";
  constructor(
    message: string,
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const MAX_REDIRECTS = 5;
/** The hub gives a thousand entries a page; no model has a hundred thousand files. */
const MAX_PAGES = 100;

export function createHub({ endpoint, token, fetch: request = fetch }: HubOptions): Hub {
  const base = endpoint.replace(/\/+$/, "");
  const home = new URL(base).origin;

  /** Follows redirects by hand: the token goes to the hub itself and to nobody else. */
  async function get(address: string, headers: Record<string, string>, signal: AbortSignal) {
    let url = new URL(address);
    let linkedEtag: string | null = null;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const own = token && url.origin === home ? { authorization: `Bearer ${token}` } : {};
      const response = await request(url, { headers: { ...headers, ...own }, redirect: "manual", signal }).catch(
        (cause: unknown) => {
          signal.throwIfAborted();
          throw new TransientHubError(`${url.host} cannot be reached (${reasonOf(cause)})`, undefined, { cause });
        },
      );
      linkedEtag ??= response.headers.get("x-linked-etag");
      const location = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || !location) return { response, linkedEtag };
      await response.body?.cancel();
      url = new URL(location, url);
    }
    throw errors.HUB_ERROR(`The hub sent more than ${MAX_REDIRECTS} redirects for ${address}.`);
  }

  async function refuse(response: Response, repository: string, path?: string): Promise<never> {
    await response.body?.cancel();
    const what = path ? `'${path}' of '${repository}'` : `'${repository}'`;
    const page = `${base}/${repository}`;
    if (response.status === 401) {
      throw errors.FORBIDDEN(
        token
          ? `The hub does not accept the token in HF_TOKEN for ${what}. Make a new one at ${base}/settings/tokens.`
          : `The hub wants a login for ${what}: it is private, gated or does not exist. Make a token at ${base}/settings/tokens and start the server with HF_TOKEN set.`,
      );
    }
    if (response.status === 403) {
      throw errors.FORBIDDEN(
        token
          ? `Access to ${what} is gated. Open ${page} with the account of HF_TOKEN, accept its terms, then pull again.`
          : `Access to ${what} is gated. Open ${page}, accept its terms, and start the server with that account's token in HF_TOKEN.`,
      );
    }
    if (response.status === 404) throw errors.HUB_ERROR(`The hub ${base} has no ${what}.`);
    if (response.status === 429 || response.status >= 500) {
      const seconds = Number(response.headers.get("retry-after"));
      throw new TransientHubError(`the hub answered ${response.status}`, seconds > 0 ? seconds * 1_000 : undefined);
    }
    throw errors.HUB_ERROR(`The hub answered ${response.status} for ${what}.`);
  }

  return {
    async listFiles(repository, signal) {
      const files = new Map<string, HubFile>();
      let next: string | undefined = `${base}/api/models/${repository}/tree/main?recursive=true`;
      for (let page = 0; next && page < MAX_PAGES; page++) {
        const { response } = await get(next, { accept: "application/json" }, signal);
        if (!response.ok) await refuse(response, repository);
        for (const [path, file] of readTree(await response.json().catch(() => undefined), repository))
          files.set(path, file);
        next = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
      }
      return files;
    },

    async openFile(repository, path, from, signal) {
      const address = `${base}/${repository}/resolve/main/${path.split("/").map(encodeURIComponent).join("/")}`;
      // Compressed bytes could not be counted against ranges.
      const headers: Record<string, string> = { "accept-encoding": "identity" };
      if (from > 0) headers["range"] = `bytes=${from}-`;
      const { response, linkedEtag } = await get(address, headers, signal);
      if (response.status === 416) {
        await response.body?.cancel();
        throw new TransientHubError("the hub does not have the range we asked for");
      }
      if (!response.ok || !response.body) await refuse(response, repository, path);
      const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
      const length = response.headers.get("content-length");
      return {
        stream: response.body as ReadableStream<Uint8Array>,
        from: response.status === 206 ? Number(range?.[1] ?? from) : 0,
        total:
          response.status === 206
            ? range
              ? Number(range[2])
              : undefined
            : length === null
              ? undefined
              : Number(length),
        etag: normaliseEtag(linkedEtag ?? response.headers.get("etag")),
      };
    },
  };
}

function readTree(value: unknown, repository: string): [string, HubFile][] {
  if (!Array.isArray(value)) throw errors.HUB_ERROR(`The hub's list of files of '${repository}' is not a list.`);
  const files: [string, HubFile][] = [];
  for (const entry of value as Record<string, unknown>[]) {
    if (entry["type"] !== "file" || typeof entry["path"] !== "string") continue;
    const large = entry["lfs"] as { oid?: unknown; size?: unknown } | undefined;
    const size = Number(large?.size ?? entry["size"]);
    if (!Number.isSafeInteger(size) || size < 0)
      throw errors.HUB_ERROR(`The hub gives no size for '${entry["path"]}'.`);
    const sha256 = typeof large?.oid === "string" ? large.oid.replace(/^sha256:/, "") : undefined;
    const gitId = !large && typeof entry["oid"] === "string" ? entry["oid"] : undefined;
    files.push([entry["path"], { size, ...(sha256 && { sha256 }), ...(gitId && { gitId }) }]);
  }
  return files;
}

const normaliseEtag = (etag: string | null) => etag?.replace(/^W\//, "").replaceAll('"', "") || undefined;

function reasonOf(error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}
