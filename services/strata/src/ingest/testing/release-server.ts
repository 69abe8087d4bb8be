import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A release as a bucket holds it. */
export interface TestRelease {
  name: string;
  commit: string;
  /** Unix seconds: Last-Modified of git-revision. */
  date: number;
  /** packages.json.br; null for a release without one. */
  list: Buffer | null;
}

export interface ReleaseServer {
  url: string;
  requests: string[];
  releases: TestRelease[];
  /** Answers the next requests whose path matches with this status (or breaks the connection in the middle: "break"). */
  failNext(path: RegExp, status: number | "break", times: number): void;
  close(): Promise<void>;
}

/** Serves the listing protocol of S3 (ListObjectsV2 with delimiter and continuation tokens) and the files of releases. */
export async function startReleaseServer(
  prefix: string,
  releases: TestRelease[],
  pageSize: number,
): Promise<ReleaseServer> {
  const requests: string[] = [];
  let failures: { path: RegExp; status: number | "break"; times: number }[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url!);
    const failure = failures.find(({ path, times }) => times > 0 && path.test(request.url!));
    if (failure !== undefined) {
      failure.times--;
      if (failure.status === "break") {
        response.writeHead(200, { "content-length": "100000" }).write("half");
        setTimeout(() => response.destroy(), 20);
        return;
      }
      response.writeHead(failure.status).end();
      return;
    }
    answer(request, response, prefix, releases, pageSize);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${prefix}/`,
    requests,
    releases,
    failNext: (path, status, times) => {
      failures = [...failures, { path, status, times }];
    },
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  prefix: string,
  releases: TestRelease[],
  pageSize: number,
): void {
  const url = new URL(request.url!, "http://x");
  if (url.pathname === "/" && url.searchParams.get("list-type") === "2") {
    response.setHeader("content-type", "application/xml").end(listPage(url, prefix, releases, pageSize));
    return;
  }
  const [, name, file] = new RegExp(`^/${prefix}/([^/]+)/([^/]+)$`).exec(decodeURIComponent(url.pathname)) ?? [];
  const release = releases.find((candidate) => candidate.name === name);
  const body = file === "git-revision" ? release?.commit : file === "packages.json.br" ? release?.list : undefined;
  if (release === undefined || body === undefined || body === null) {
    response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
    return;
  }
  response.setHeader("last-modified", new Date(release.date * 1000).toUTCString()).end(body);
}

function listPage(url: URL, prefix: string, releases: TestRelease[], pageSize: number): string {
  const folders = releases.map(({ name }) => `${prefix}/${name}/`).sort();
  const start = Number(Buffer.from(url.searchParams.get("continuation-token") ?? "", "base64").toString() || 0);
  const page = url.searchParams.get("prefix") === `${prefix}/` ? folders.slice(start, start + pageSize) : [];
  const isTruncated = start + pageSize < folders.length;
  const token = Buffer.from(String(start + pageSize)).toString("base64");
  return [
    '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    `<Prefix>${prefix}/</Prefix><IsTruncated>${isTruncated}</IsTruncated>`,
    isTruncated ? `<NextContinuationToken>${token}</NextContinuationToken>` : "",
    `<Contents><Key>${prefix}/index.html</Key></Contents>`,
    ...page.map((folder) => `<CommonPrefixes><Prefix>${folder.replace("&", "&amp;")}</Prefix></CommonPrefixes>`),
    `<CommonPrefixes><Prefix>${prefix}/not-a-release&amp;/</Prefix></CommonPrefixes>`,
    "</ListBucketResult>",
  ].join("");
}
