/** A small model hub that speaks the real one's protocol, with a CDN on another port, and that misbehaves on request. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

interface HubRequest {
  readonly host: "hub" | "cdn";
  readonly path: string;
  readonly authorization: string | undefined;
  readonly range: string | undefined;
}

/** What may go wrong, by file path inside the repository. */
interface Misbehaviour {
  /** the connection ends after so many bytes of each of the first `times` answers */
  readonly cutAfter?: { readonly bytes: number; readonly times: number };
  readonly bytesPerSecond?: number;
  /** only so many answers are slow */
  readonly slowTimes?: number;
  readonly listedSize?: number;
  readonly listedHash?: string;
  /** the CDN sends this instead */
  readonly sends?: Buffer;
  /** answers ranges with the whole file */
  readonly ignoresRanges?: boolean;
  /** answers so many times with this status first */
  readonly fails?: { readonly status: number; readonly times: number };
}

export interface TestHub {
  readonly url: string;
  readonly requests: HubRequest[];
  /** status for everything of a repository */
  readonly repositoryStatus: Map<string, number>;
  readonly misbehaviour: Map<string, Misbehaviour>;
  /** answers of the CDN whose readers are still there */
  openDownloads(): number;
  add(repository: string, files: Readonly<Record<string, Buffer>>): void;
  stop(): Promise<void>;
}

/** Files from this size on are kept in large-file storage and come from the CDN. */
const LARGE = 1_000;
const CHUNK = 16 * 1024;

export async function startHub(): Promise<TestHub> {
  const repositories = new Map<string, Map<string, Buffer>>();
  const requests: HubRequest[] = [];
  const repositoryStatus = new Map<string, number>();
  const misbehaviour = new Map<string, Misbehaviour>();
  const sent = new Map<string, number>();
  let downloads = 0;

  const note = (host: "hub" | "cdn", request: IncomingMessage) =>
    requests.push({
      host,
      path: request.url ?? "",
      authorization: request.headers.authorization,
      range: request.headers.range,
    });

  function listFiles(response: ServerResponse, files: Map<string, Buffer>): void {
    const rows = [...files].map(([path, content]) => {
      const wrong = misbehaviour.get(path) ?? {};
      const size = wrong.listedSize ?? content.length;
      const row = { type: "file", path, size, oid: gitId(content) };
      if (content.length < LARGE) return row;
      return { ...row, lfs: { oid: wrong.listedHash ?? sha256(content), size, pointerSize: 134 } };
    });
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify([{ type: "directory", path: "unet", size: 0, oid: "0" }, ...rows]));
  }

  async function sendFile(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    stored: Buffer,
  ): Promise<void> {
    const wrong = misbehaviour.get(path) ?? {};
    const content = wrong.sends ?? stored;
    const times = (sent.get(path) ?? 0) + 1;
    sent.set(path, times);
    if (wrong.fails && times <= wrong.fails.times) return void response.writeHead(wrong.fails.status).end();
    const from = wrong.ignoresRanges ? 0 : Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const body = content.subarray(from);
    response.writeHead(from > 0 ? 206 : 200, {
      "content-length": body.length,
      ...(from > 0 && { "content-range": `bytes ${from}-${content.length - 1}/${content.length}` }),
      etag: `"${content.length < LARGE ? gitId(content) : "cdn-tag-of-its-own"}"`,
    });
    const isSlow = times <= (wrong.slowTimes ?? Number.POSITIVE_INFINITY);
    const end = wrong.cutAfter && times <= wrong.cutAfter.times ? wrong.cutAfter.bytes : body.length;
    for (let at = 0; at < end && !response.destroyed; at += CHUNK) {
      response.write(body.subarray(at, Math.min(end, at + CHUNK)));
      if (wrong.bytesPerSecond && isSlow) await wait((CHUNK / wrong.bytesPerSecond) * 1_000);
    }
    if (end < body.length) {
      // What was written leaves first.
      response.socket?.end();
    } else response.end();
  }

  const cdn = await listen((request, response) => {
    note("cdn", request);
    const [repository = "", path = ""] = decodeURIComponent(request.url ?? "")
      .slice(1)
      .split("//");
    const content = repositories.get(repository)?.get(path);
    if (!content) return void response.writeHead(404).end();
    downloads++;
    response.on("close", () => downloads--);
    void sendFile(request, response, path, content);
  });

  const hub = await listen((request, response) => {
    note("hub", request);
    const url = decodeURIComponent(new URL(request.url ?? "", "http://hub").pathname);
    const [, listed] = /^\/api\/models\/([^/]+\/[^/]+)\/tree\/main$/.exec(url) ?? [];
    const [, owner, path] = /^\/([^/]+\/[^/]+)\/resolve\/main\/(.+)$/.exec(url) ?? [];
    const repository = listed ?? owner ?? "";
    const status = repositoryStatus.get(repository);
    if (status) return void response.writeHead(status, { "x-error-code": status === 403 ? "GatedRepo" : "" }).end();
    const files = repositories.get(repository);
    if (!files) return void response.writeHead(404).end();
    if (listed) return listFiles(response, files);
    const content = files.get(path ?? "");
    if (!content) return void response.writeHead(404).end();
    if (content.length < LARGE) return void sendFile(request, response, path!, content);
    response.writeHead(302, {
      location: `${cdn.url}/${encodeURIComponent(`${repository}//${path}`)}`,
      "x-linked-etag": `"${sha256(content)}"`,
      "x-linked-size": content.length,
    });
    response.end();
  });

  return {
    url: hub.url,
    requests,
    repositoryStatus,
    misbehaviour,
    openDownloads: () => downloads,
    add: (repository, files) => void repositories.set(repository, new Map(Object.entries(files))),
    stop: async () => {
      for (const { server } of [hub, cdn]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

const sha256 = (content: Buffer) => createHash("sha256").update(content).digest("hex");
const gitId = (content: Buffer) => createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: Server; url: string }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
