import { once } from "node:events";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { ApiError, createClient, UnreachableError } from "../contract/create-client.js";
import { routes } from "../testing/fixture/fixture-routes.js";
import { useFixture } from "../testing/fixture/use-fixture.js";
import { rawRequest } from "../testing/raw-request.js";
import { createLog } from "./create-log.js";

describe("errors", () => {
  const fixture = useFixture();
  it.each(["error", "string", "undeclared", "header", "error-header"])(
    "what fails inside as %s is a 500 that says nothing; the log has it under the id",
    async (how) => {
      const answer = await fetch(`${fixture.url()}/api/fail/${how}`, { headers: { "x-request-id": `find-me-${how}` } });
      expect([answer.status, await answer.text()]).toEqual([
        500,
        '{"code":"INTERNAL_ERROR","message":"Internal error."}',
      ]);
      const line = fixture
        .lines()
        .find((entry) => entry["requestId"] === `find-me-${how}` && entry["err"] !== undefined);
      expect(JSON.stringify(line)).toMatch(/secret|breaks its declaration|Invalid character/);
    },
  );
  it("codes keep their own status and headers", async () => {
    const answer = await fetch(`${fixture.url()}/api/items`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"name":"full"}',
    });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "7"]);
    expect(await answer.json()).toEqual({ code: "QUEUE_FULL", message: "The queue is full." });
  });
  it("errors are never cacheable", async () => {
    const answer = await fetch(`${fixture.url()}/api/files/none`);
    expect([answer.status, answer.headers.get("cache-control"), answer.headers.get("etag")]).toEqual([404, null, null]);
  });
  it("a client that leaves is logged as such, not as a failure", async () => {
    const socket = connect(fixture.port(), "127.0.0.1");
    await once(socket, "connect");
    socket.write("GET /api/slow/2000 HTTP/1.1\r\nHost: x\r\n\r\n");
    // One that came later is answered: the slow one is under way.
    await fetch(`${fixture.url()}/health`);
    socket.destroy();
    await expect
      .poll(() => fixture.lines().find((line) => line["route"] === "slow"))
      .toMatchObject({ status: 499, level: 30 });
  });
  it("a whole request is one line with id, route, status and time", async () => {
    await fetch(`${fixture.url()}/api/items/one?repeat=2`, { headers: { "x-request-id": "one-line" } });
    const lines = fixture.lines().filter((line) => line["requestId"] === "one-line");
    expect(lines).toEqual([
      expect.objectContaining({
        method: "GET",
        url: "/api/items/one?repeat=2",
        route: "get_item",
        status: 200,
        ms: expect.any(Number),
        address: "127.0.0.1",
        msg: "request",
      }),
    ]);
  });
});

describe("paths", () => {
  const fixture = useFixture();
  const ask = async (name: string, part: string) =>
    JSON.parse(
      (await rawRequest(fixture.port(), `GET /api/items/${name}/parts/${part} HTTP/1.1\r\nHost: x\r\n\r\n`)).body,
    ) as unknown;
  it.each([
    ["a%2Fb", "a/b"],
    ["%252F", "%2F"],
    ["%2525", "%25"],
    ["..", ".."],
    ["%2e%2e", ".."],
    ["%00", "\0"],
    ["%F0%9F%98%80", "\u{1F600}"],
    ["a+b", "a+b"],
    ["a;b", "a;b"],
    ["a%3Fb", "a?b"],
    ["a%23b", "a#b"],
    ["%20", " "],
    ["A", "A"],
  ])("%s is the name %j, in each place", async (segment, name) => {
    expect(await ask(segment, "x")).toMatchObject({ name });
    expect(await ask("x", segment)).toMatchObject({ part: name });
  });
  it("an empty name, another case, a slash more: not found", async () => {
    for (const path of ["/api/items/", "/api/items//parts/x", "/API/items/one", "/api/items/one/", "//api/items/one"]) {
      expect([path, (await fetch(fixture.url() + path)).status]).toEqual([path, 404]);
    }
  });
  it("bytes that must be percent-encoded and are not: 400", async () => {
    const answer = await rawRequest(fixture.port(), "GET /api/items/caf\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n");
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining("percent-encoded")]);
  });
  it("an absolute address and HTTP/1.0 are understood", async () => {
    expect((await rawRequest(fixture.port(), "GET http://x/health HTTP/1.1\r\nHost: x\r\n\r\n")).status).toBe(200);
    expect((await rawRequest(fixture.port(), "GET /health HTTP/1.0\r\n\r\n")).status).toBe(200);
  });
});

describe("conditional requests", () => {
  const fixture = useFixture();
  it("a validator known beforehand spares the handler", async () => {
    const first = await fetch(`${fixture.url()}/api/stamped`);
    const { calls } = (await first.json()) as { calls: number };
    expect(first.headers.get("etag")).toBe('"stamp-1"');
    for (const tag of ['"stamp-1"', 'W/"stamp-1"', '"x", "stamp-1-br"', "*"]) {
      const again = await fetch(`${fixture.url()}/api/stamped`, { headers: { "if-none-match": tag } });
      expect([tag, again.status, again.headers.get("cache-control")]).toEqual([tag, 304, "public, max-age=60"]);
    }
    expect(await (await fetch(`${fixture.url()}/api/stamped`)).json()).toEqual({ calls: calls + 1 });
  });
});

/** By hand, because fetch adds `Cache-Control: no-cache` to its own conditional requests. */
function revalidate(port: number, path: string, earlier: Response): ReturnType<typeof rawRequest> {
  return rawRequest(port, `GET ${path} HTTP/1.0\r\nIf-None-Match: ${earlier.headers.get("etag")}\r\n\r\n`);
}

describe("files", () => {
  const fixture = useFixture();
  it("have ranges and validators, and nothing outside their folder", async () => {
    const url = `${fixture.url()}/api/files/fixture-routes.ts`;
    const whole = await fetch(url);
    const text = await whole.text();
    expect(whole.headers.get("accept-ranges")).toBe("bytes");
    const part = await fetch(url, { headers: { range: "bytes=3-6" } });
    expect([part.status, await part.text()]).toEqual([206, text.slice(3, 7)]);
    expect((await revalidate(fixture.port(), "/api/files/fixture-routes.ts", whole)).status).toBe(304);
    expect((await fetch(url, { headers: { range: "bytes=99999999-" } })).status).toBe(416);
    for (const name of [
      "..%2Fcheck-routes.ts",
      "%2Fetc%2Fpasswd",
      "..%2F..%2F..%2Fpackage.json",
      ".%2F..%2F..%2Findex.ts",
    ]) {
      const answer = await rawRequest(fixture.port(), `GET /api/files/${name} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect([name, answer.status]).toEqual([name, 404]);
      expect(JSON.parse(answer.body)).toMatchObject({ code: "NOT_FOUND" });
    }
  });
});

describe("API keys", () => {
  const fixture = useFixture({ apiKeys: ["first", "second"] });
  const ask = (headers: Record<string, string>, path = "/api/items/one") => fetch(fixture.url() + path, { headers });
  it("any of the keys opens, in either header", async () => {
    for (const headers of [
      { "x-api-key": "first" },
      { "x-api-key": "second" },
      { authorization: "Bearer second" },
      { authorization: "bearer first" },
    ]) {
      expect((await ask(headers)).status).toBe(200);
    }
    expect(await createClient(routes, { baseUrl: fixture.url(), apiKey: "second" }).health()).toEqual({ status: "ok" });
  });
  it("nothing else does, and says so", async () => {
    for (const headers of [
      {},
      { "x-api-key": "" },
      { "x-api-key": "firs" },
      { "x-api-key": "first,second" },
      { authorization: "Basic first" },
    ]) {
      const answer = await ask(headers as Record<string, string>);
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      expect(await answer.json()).toMatchObject({ code: "UNAUTHORIZED" });
    }
  });
  it("health, documentation and metrics are open", async () => {
    for (const path of ["/health", "/docs", "/openapi.json", "/metrics"])
      expect([path, (await ask({}, path)).status]).toEqual([path, 200]);
  });
});

describe("pages", () => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "pages-"));
    await mkdir(join(directory, "assets"));
    await writeFile(join(directory, "index.html"), "<!doctype html><title>page</title>");
    await writeFile(join(directory, "assets", "app-1a2b.js"), "plain");
    await writeFile(join(directory, "assets", "app-1a2b.js.gz"), gzipSync("packed"));
    await writeFile(join(directory, ".secret"), "no");
  });
  const fixture = useFixture({
    pages: {
      get directory() {
        return directory;
      },
      deepLinks: ["/gallery", "/package/*"],
    },
  });
  it("the index at the root and at deep links, asked for each time", async () => {
    for (const path of ["/", "/index.html", "/gallery", "/package/a/b"]) {
      const answer = await fetch(fixture.url() + path);
      expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
        path,
        200,
        "text/html; charset=utf-8",
      ]);
      expect(answer.headers.get("cache-control")).toBe("no-cache");
      expect(answer.headers.get("x-request-id")).toBeTruthy();
      expect(await answer.text()).toContain("page");
    }
  });
  it("hashed assets are kept for ever, packed forms beside them are used", async () => {
    const packed = await fetch(`${fixture.url()}/assets/app-1a2b.js`, { headers: { "accept-encoding": "gzip" } });
    expect([packed.headers.get("content-encoding"), await packed.text()]).toEqual(["gzip", "packed"]);
    expect(packed.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const plain = await fetch(`${fixture.url()}/assets/app-1a2b.js`, { headers: { "accept-encoding": "identity" } });
    expect(await plain.text()).toBe("plain");
    expect((await revalidate(fixture.port(), "/assets/app-1a2b.js", plain)).status).toBe(304);
    const head = await fetch(`${fixture.url()}/assets/app-1a2b.js`, {
      method: "HEAD",
      headers: { "accept-encoding": "identity" },
    });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "5"]);
  });
  it("what is not there is a JSON 404, and the API stays in front", async () => {
    for (const path of ["/assets/none.js", "/none", "/.secret", "/assets/", "/..%2f..%2fetc%2fpasswd", "/api/none"]) {
      const answer = await rawRequest(fixture.port(), `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect([path, answer.status, answer.headers.get("content-type")]).toEqual([path, 404, "application/json"]);
    }
    expect(await (await fetch(`${fixture.url()}/health`)).json()).toEqual({ status: "ok" });
    expect((await fetch(`${fixture.url()}/none`, { method: "POST" })).status).toBe(404);
  });
});

describe("the client", () => {
  const fixture = useFixture();
  const client = () => createClient(routes, { baseUrl: `${fixture.url()}/`, requestId: () => "from-client" });
  it("brings typed values and typed errors", async () => {
    const item = await client().getItem({
      params: { name: "a/b ?#%" },
      query: { repeat: 2, upper: true, label: "x&y=z" },
    });
    expect(item).toEqual({ name: "A/B ?#%A/B ?#%", length: 14, tags: ["x&y=z"], note: null });
    const error = await client()
      .getItem({ params: { name: "no-such" } })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 404,
      code: "NOT_FOUND",
      message: "Item 'no-such' not found",
      requestId: "from-client",
    });
  });
  it("brings bytes where the answer is no JSON", async () => {
    const file = await client().getFile({ params: { name: "fixture-routes.ts" } });
    expect(file.text()).toContain("declareRoute");
  });
  it("tells a server that is not there from one that says no", async () => {
    const nobody = createClient(routes, { baseUrl: "http://127.0.0.1:9" });
    await expect(nobody.health()).rejects.toBeInstanceOf(UnreachableError);
    await expect(nobody.health()).rejects.toThrow(/No server answers at http:\/\/127.0.0.1:9/);
  });
  it("an aborted call is neither", async () => {
    const error = await client()
      .slow({ params: { ms: "5000" }, signal: AbortSignal.timeout(50) })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "TimeoutError" });
  });
});

describe("slow clients", () => {
  const fixture = useFixture({
    limits: { headersTimeoutMs: 300, requestTimeoutMs: 600, connectionsCheckingIntervalMs: 50 },
  });
  it("headers that do not come in time are 408, as JSON with an id", async () => {
    const answer = await rawRequest(fixture.port(), "GET /health HTTP/1.1\r\nHost:");
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      408,
      { code: "REQUEST_TIMEOUT", message: expect.any(String) },
    ]);
    expect(answer.headers.get("x-request-id")).toBeTruthy();
  });
  it("so are bodies", async () => {
    const answer = await rawRequest(
      fixture.port(),
      'POST /api/items HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name"',
    );
    expect(answer.status).toBe(408);
  });
});

describe("createLog", () => {
  it("refuses a level that is none", () =>
    expect(() => createLog({ name: "x", level: "loud" })).toThrow("--log-level: 'loud'"));
});
