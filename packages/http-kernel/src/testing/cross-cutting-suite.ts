// The behaviour both services share, tried over real sockets against a real program. The kernel's fixture and both binaries
// run this same suite; what differs between them is in the target.
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rawRequest } from "./raw-request.js";
import { ProgramEnded, type RunningProgram } from "./start-program.js";

export interface CrossCuttingTarget {
  readonly name: string;
  /** Starts the program on port 0 with these flags added. */
  start(flags: readonly string[]): Promise<RunningProgram>;
  readonly health: string;
  readonly docs: { readonly page: string; readonly document: string };
  /** A GET that answers 200 and counts against the rate limit. */
  readonly get: string;
  /** A path prefix whose last segment is a parameter, e.g. `/api/v1/packages/`. */
  readonly parameterPrefix: string;
  /** A cacheable GET, if there is one. */
  readonly cacheable?: string;
  /** A GET whose answer is large enough to be compressed, if there is one. */
  readonly large?: string;
  /** A route with a JSON body, if there is one. */
  readonly post?: {
    readonly path: string;
    readonly bodyLimit: number;
    readonly malformed: { readonly status: number; readonly code: string };
  };
  /** A query text that breaks a rule of `get`, and what comes of it. */
  readonly invalid?: {
    readonly path: string;
    readonly status: number;
    readonly code: string;
    readonly mentions: readonly string[];
  };
}

export function crossCuttingSuite(target: CrossCuttingTarget): void {
  describe(`${target.name}: what every answer has`, () => {
    const program = useProgram(target, []);
    errorTests(target, program);
    requestIdTests(target, program);
    contentTests(target, program);
    hostileTests(target, program);
    it("without --cors no answer has a CORS header", async () => {
      for (const path of [target.get, target.health, "/nowhere"]) {
        const answer = await fetch(program().url + path, { headers: { origin: "https://a.example" } });
        expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    });
  });
  corsTests(target);
  rateLimitTests(target);
  lifeTests(target);
}

type Program = () => RunningProgram;

function useProgram(target: CrossCuttingTarget, flags: readonly string[]): Program {
  let program: RunningProgram | undefined;
  beforeAll(async () => {
    program = await target.start(flags);
  });
  afterAll(async () => {
    await program?.stop();
  });
  return () => {
    if (program === undefined) throw new Error("The program has not started");
    return program;
  };
}

async function expectError(answer: Response, status: number, code: string): Promise<string> {
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("x-request-id")).toBeTruthy();
  const body = (await answer.json()) as { code: string; message: string };
  expect(Object.keys(body).sort()).toEqual(["code", "message"]);
  expect(body.code).toBe(code);
  expect(body.message).not.toBe("");
  return body.message;
}

function expectRawError(answer: Awaited<ReturnType<typeof rawRequest>>, status: number, code: string): void {
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("x-request-id")).toBeTruthy();
  expect(JSON.parse(answer.body)).toMatchObject({ code });
}

function errorTests(target: CrossCuttingTarget, program: Program): void {
  it("an unknown path is 404", async () => {
    await expectError(await fetch(`${program().url}/no/such/path`), 404, "NOT_FOUND");
  });
  it("a wrong method is 405 with Allow", async () => {
    for (const method of ["PUT", "PATCH", "PROPFIND"]) {
      const answer = await fetch(program().url + target.get, { method });
      expect(answer.headers.get("allow")).toContain("GET");
      await expectError(answer, 405, "METHOD_NOT_ALLOWED");
    }
  });
  it("OPTIONS says what a path answers", async () => {
    const answer = await fetch(program().url + target.get, { method: "OPTIONS" });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("allow")).toContain("GET");
    expect(answer.headers.get("x-request-id")).toBeTruthy();
  });
  it.each(["%", "%zz", "%ff", "%E0%A4%A"])("a path with the bad encoding %s is 400", async (segment) => {
    expectRawError(
      await rawRequest(program().port, `GET ${target.parameterPrefix}${segment} HTTP/1.1\r\nHost: x\r\n\r\n`),
      400,
      "BAD_REQUEST",
    );
  });
  it.each([
    ["40 KB", 40_000],
    ["100 KB", 100_000],
    ["200 KB", 200_000],
  ])("a request line of %s is 414", async (_, length) => {
    expectRawError(
      await rawRequest(program().port, `GET /${"a".repeat(length)} HTTP/1.1\r\nHost: x\r\n\r\n`),
      414,
      "URI_TOO_LONG",
    );
  });
  it.each([
    ["40 KB", 40_000],
    ["200 KB", 200_000],
    ["1 MB", 1_000_000],
  ])("headers of %s are 431", async (_, length) => {
    const head = `GET ${target.get} HTTP/1.1\r\nHost: x\r\nX-Long: `;
    expectRawError(await rawRequest(program().port, `${head}${"a".repeat(length)}\r\n\r\n`), 431, "HEADERS_TOO_LARGE");
  });
  it("a missing Host is 400", async () => {
    expectRawError(await rawRequest(program().port, `GET ${target.get} HTTP/1.1\r\n\r\n`), 400, "BAD_REQUEST");
  });
  it("an expectation nobody can meet is 417", async () => {
    expectRawError(
      await rawRequest(program().port, `GET ${target.get} HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n`),
      417,
      "EXPECTATION_FAILED",
    );
  });
  it("CONNECT is refused", async () => {
    expectRawError(
      await rawRequest(program().port, "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"),
      405,
      "METHOD_NOT_ALLOWED",
    );
  });
  const { invalid, post } = target;
  if (invalid !== undefined) {
    it("a parameter that breaks its rule is named, with what was given and what is allowed", async () => {
      const message = await expectError(await fetch(program().url + invalid.path), invalid.status, invalid.code);
      for (const word of invalid.mentions) expect(message).toContain(word);
    });
  }
  if (post !== undefined) bodyErrorTests(post, program);
}

function bodyErrorTests(post: NonNullable<CrossCuttingTarget["post"]>, program: Program): void {
  const send = (body: string, type: string | undefined) =>
    fetch(program().url + post.path, {
      method: "POST",
      body: Buffer.from(body),
      headers: type === undefined ? {} : { "content-type": type },
    });
  it("a body that is not JSON is refused", async () => {
    await expectError(await send('{"prompt":', "application/json"), post.malformed.status, post.malformed.code);
    await expectError(await send("", "application/json"), post.malformed.status, post.malformed.code);
  });
  it("a body of another type is 415", async () => {
    await expectError(await send("a=b", "application/x-www-form-urlencoded"), 415, "UNSUPPORTED_MEDIA_TYPE");
    await expectError(await send("{}", undefined), 415, "UNSUPPORTED_MEDIA_TYPE");
  });
  it("a body over the limit is 413, announced or not", async () => {
    const head = `POST ${post.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    expectRawError(
      await rawRequest(program().port, `${head}Content-Length: ${post.bodyLimit + 1}\r\n\r\n{`),
      413,
      "PAYLOAD_TOO_LARGE",
    );
    const size = post.bodyLimit + 65_536;
    const chunked = Buffer.concat([
      Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`),
      Buffer.alloc(size, " "),
    ]);
    expectRawError(await rawRequest(program().port, chunked), 413, "PAYLOAD_TOO_LARGE");
  });
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function requestIdTests(target: CrossCuttingTarget, program: Program): void {
  it("a client's id of visible ASCII comes back, on success and on errors", async () => {
    for (const path of [target.get, target.health, "/nowhere", target.docs.page]) {
      for (const id of ["a", "!~{}\"'", "x".repeat(128)]) {
        const answer = await fetch(program().url + path, { headers: { "x-request-id": id } });
        expect(answer.headers.get("x-request-id")).toBe(id);
      }
    }
  });
  it("anything else gets a new id", async () => {
    for (const id of ["", "x".repeat(129), "two words", "tab\there", "caf\u00e9"]) {
      const answer = await fetch(program().url + target.health, { headers: { "x-request-id": id } });
      expect(answer.headers.get("x-request-id")).toMatch(UUID);
    }
    expect((await fetch(program().url + target.health)).headers.get("x-request-id")).toMatch(UUID);
  });
  it("two ids in one request are not joined into one", async () => {
    const answer = await rawRequest(
      program().port,
      `GET ${target.health} HTTP/1.1\r\nHost: x\r\nX-Request-ID: a\r\nX-Request-ID: b\r\n\r\n`,
    );
    expect(answer.headers.get("x-request-id")).toMatch(UUID);
  });
  it.each(["a\nSet-Cookie: evil=1", "a\rSet-Cookie: evil=1", "a\0b", "a\r\n\tSet-Cookie: evil=1"])(
    "header injection by %j is refused",
    async (id) => {
      const answer = await rawRequest(
        program().port,
        `GET ${target.health} HTTP/1.1\r\nHost: x\r\nX-Request-ID: ${id}\r\n\r\n`,
      );
      expect(answer.headers.get("set-cookie")).toBeNull();
      expect(answer.headers.get("x-request-id")).toMatch(UUID);
    },
  );
  it("line breaks in the path never reach a header", async () => {
    const answer = await fetch(`${program().url}${target.parameterPrefix}a%0d%0aSet-Cookie:%20evil=1`);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(answer.headers.get("x-request-id")).toMatch(UUID);
  });
}

function contentTests(target: CrossCuttingTarget, program: Program): void {
  it("HEAD answers as GET does, without the body", async () => {
    for (const path of [target.get, target.health, target.docs.page, target.docs.document, "/nowhere"]) {
      const get = await fetch(program().url + path, { headers: { "accept-encoding": "identity" } });
      const head = await fetch(program().url + path, { method: "HEAD", headers: { "accept-encoding": "identity" } });
      expect([path, head.status]).toEqual([path, get.status]);
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
      if (head.ok) expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
      expect(await head.text()).toBe("");
      await get.arrayBuffer();
    }
  });
  it("health is 200 and never stored", async () => {
    const answer = await fetch(program().url + target.health);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });
  it("the OpenAPI document and its page come from here and name no other host", async () => {
    const document = (await (await fetch(program().url + target.docs.document)).json()) as {
      openapi: string;
      paths: object;
    };
    expect(document.openapi).toMatch(/^3\.1/);
    expect(Object.keys(document.paths)).toContain(target.health);
    const page = await (await fetch(program().url + target.docs.page)).text();
    expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    const script = /<script src="([^"]+)"/.exec(page)?.[1] as string;
    expect((await fetch(program().url + script)).status).toBe(200);
  });
  it("metrics count by route, not by address", async () => {
    await fetch(`${program().url}/unheard-of-${Math.random()}`);
    const text = await (await fetch(`${program().url}/metrics`)).text();
    expect(text).toContain("http_requests_total");
    expect(text).not.toContain("unheard-of");
  });
  const { cacheable, large } = target;
  if (cacheable !== undefined) {
    it("a validator that still holds is 304 with an id and no body", async () => {
      const first = await fetch(program().url + cacheable);
      const etag = first.headers.get("etag") as string;
      expect(etag).toMatch(/^(W\/)?".+"$/);
      expect(first.headers.get("cache-control")).toMatch(/^public, max-age=\d+$/);
      const second = await fetch(program().url + cacheable, { headers: { "if-none-match": `"other", ${etag}` } });
      expect([second.status, await second.text()]).toEqual([304, ""]);
      expect(second.headers.get("x-request-id")).toBeTruthy();
      expect((await fetch(program().url + cacheable, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    });
  }
  if (large !== undefined) {
    it("large answers are compressed for those who ask, each form with its own validator", async () => {
      const plain = await fetch(program().url + large, { headers: { "accept-encoding": "identity" } });
      const wanted = await plain.text();
      expect(plain.headers.get("content-encoding")).toBeNull();
      const tags = [plain.headers.get("etag")];
      for (const encoding of ["gzip", "br"]) {
        const packed = await fetch(program().url + large, { headers: { "accept-encoding": encoding } });
        expect(packed.headers.get("content-encoding")).toBe(encoding);
        expect(packed.headers.get("vary")).toMatch(/accept-encoding/i);
        expect(await packed.text()).toBe(wanted);
        tags.push(packed.headers.get("etag"));
      }
      expect(new Set(tags).size).toBe(tags[0] === null ? 1 : 3);
    });
  }
}

const GARBAGE_BYTES = 10 * 1024 * 1024;

function hostileTests(target: CrossCuttingTarget, program: Program): void {
  const expectAlive = async () => expect((await fetch(program().url + target.health)).status).toBe(200);
  it("10 MB of garbage get a 400 and leave the server well", async () => {
    const garbage = Buffer.alloc(GARBAGE_BYTES);
    for (let at = 0; at < garbage.length; at++) garbage[at] = (at * 2654435761) >>> 13;
    expectRawError(await rawRequest(program().port, garbage), 400, "BAD_REQUEST");
    await expectAlive();
  });
  it("10 MB of zeros, line breaks and letters do no harm", async () => {
    for (const byte of ["\0", "\r\n", "A"])
      await rawRequest(program().port, Buffer.alloc(GARBAGE_BYTES, byte), 1000).catch(() => undefined);
    await expectAlive();
  });
  it("connections that send half a request and leave do no harm", async () => {
    const sockets = await Promise.all(Array.from({ length: 50 }, () => openSocket(program().port)));
    for (const socket of sockets) socket.write("GET / HTTP/1.1\r\nHost");
    await expectAlive();
    for (const socket of sockets) socket.destroy();
    await expectAlive();
  });
  it("an HTTP/2 preface and a TLS hello are refused", async () => {
    expectRawError(await rawRequest(program().port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 400, "BAD_REQUEST");
    expectRawError(await rawRequest(program().port, Buffer.from("16030100c8010000c40303", "hex")), 400, "BAD_REQUEST");
    await expectAlive();
  });
  it.each([
    "..",
    "%2e%2e",
    "%00",
    "%F0%9F%98%80",
    "%2F%2F",
    "a%2Fb",
    "%25",
    "a b".replace(" ", "%20"),
    "constructor",
    "__proto__",
  ])("the odd name %s is a name like any other", async (segment) => {
    const answer = await rawRequest(
      program().port,
      `GET ${target.parameterPrefix}${segment} HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    expect([200, 400, 404, 422, 503]).toContain(answer.status);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
  });
}

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.once("error", reject);
    socket.on("error", () => undefined);
  });
}

function preflight(url: string, origin: string): Promise<Response> {
  return fetch(url, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "GET", "access-control-request-headers": "x-request-id" },
  });
}

function corsTests(target: CrossCuttingTarget): void {
  describe(`${target.name} --cors`, () => {
    const program = useProgram(target, ["--cors"]);
    it("every origin may read every answer, and the ids and rates in it", async () => {
      for (const path of [target.get, "/nowhere"]) {
        const answer = await fetch(program().url + path, { headers: { origin: "https://anyone.example" } });
        expect(answer.headers.get("access-control-allow-origin")).toBe("*");
        for (const name of [
          "X-Request-ID",
          "RateLimit-Limit",
          "RateLimit-Remaining",
          "RateLimit-Reset",
          "Retry-After",
        ]) {
          expect(answer.headers.get("access-control-expose-headers")).toContain(name);
        }
      }
    });
    it("a preflight is answered with what is allowed", async () => {
      const answer = await preflight(program().url + target.get, "https://anyone.example");
      expect(answer.status).toBe(204);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("access-control-allow-methods")).toContain("GET");
      expect(answer.headers.get("access-control-allow-headers")).toContain("x-request-id");
      expect(answer.headers.get("x-request-id")).toBeTruthy();
    });
  });
  describe(`${target.name} --cors-origins`, () => {
    const program = useProgram(target, ["--cors-origins", "https://a.example, http://localhost:3000"]);
    it("echoes the origin that matches, with Vary", async () => {
      for (const origin of ["https://a.example", "http://localhost:3000"]) {
        const answer = await fetch(program().url + target.get, { headers: { origin } });
        expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
        expect(answer.headers.get("vary")).toMatch(/origin/i);
        expect((await preflight(program().url + target.get, origin)).headers.get("access-control-allow-origin")).toBe(
          origin,
        );
      }
    });
    it("other origins get nothing", async () => {
      for (const origin of ["https://b.example", "http://a.example", "https://a.example.evil.example", "null"]) {
        const answer = await fetch(program().url + target.get, { headers: { origin } });
        expect(answer.headers.get("access-control-allow-origin")).toBeNull();
        expect(answer.headers.get("vary")).toMatch(/origin/i);
        expect(
          (await preflight(program().url + target.get, origin)).headers.get("access-control-allow-origin"),
        ).toBeNull();
      }
    });
    it("an origin that cannot be parsed stops the start and is named", async () => {
      const refusal = await startRefused(target, ["--cors-origins", "https://a.example,not an origin"]);
      expect(refusal.output).toContain("not an origin");
      expect(refusal.output).toContain("--cors-origins");
    });
  });
}

async function startRefused(target: CrossCuttingTarget, flags: readonly string[]): Promise<ProgramEnded> {
  const outcome: unknown = await target.start(flags).catch((error: unknown) => error);
  if (outcome instanceof ProgramEnded) {
    expect(outcome.exitCode).not.toBe(0);
    return outcome;
  }
  await (outcome as RunningProgram).stop?.();
  throw new Error(`The program started although it should not have: ${String(outcome)}`);
}

function rateLimitTests(target: CrossCuttingTarget): void {
  describe(`${target.name} --rate-limit`, () => {
    const program = useProgram(target, ["--rate-limit", "1/h", "--rate-limit-burst", "3", "--cors"]);
    it("lets the burst through, then answers 429 with everything a client needs; health goes on", async () => {
      const remaining: (string | null)[] = [];
      for (let n = 0; n < 3; n++) {
        const answer = await fetch(program().url + target.get, { headers: { "x-forwarded-for": `10.0.0.${n}` } });
        expect(answer.status).not.toBe(429);
        expect(answer.headers.get("ratelimit-limit")).toBe("3");
        remaining.push(answer.headers.get("ratelimit-remaining"));
      }
      expect(remaining).toEqual(["2", "1", "0"]);
      // A forged header must not buy a new bucket.
      const refused = await fetch(program().url + target.get, {
        headers: { origin: "https://a.example", "x-forwarded-for": "10.9.9.9" },
      });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(Number(refused.headers.get("ratelimit-reset"))).toBeGreaterThanOrEqual(1);
      expect(refused.headers.get("access-control-allow-origin")).toBe("*");
      await expectError(refused, 429, "RATE_LIMITED");
      expect((await fetch(`${program().url}/nowhere`)).status).toBe(429);
      expect((await fetch(program().url + target.health)).status).toBe(200);
      expect((await preflight(program().url + target.get, "https://a.example")).status).toBe(204);
    });
  });
  describe(`${target.name} --rate-limit, refilling`, () => {
    const program = useProgram(target, ["--rate-limit", "2/s", "--rate-limit-burst", "1"]);
    it("gives a token back after its time", async () => {
      expect((await fetch(program().url + target.get)).status).not.toBe(429);
      const refused = await fetch(program().url + target.get);
      if (refused.status === 429) await sleep(Number(refused.headers.get("retry-after")) * 1000);
      expect((await fetch(program().url + target.get)).status).not.toBe(429);
    });
  });
  describe(`${target.name} --trust-proxy`, () => {
    const program = useProgram(target, [
      "--rate-limit",
      "1/h",
      "--rate-limit-burst",
      "1",
      "--trust-proxy",
      "127.0.0.1",
    ]);
    const ask = async (forwarded: string) =>
      (await fetch(program().url + target.get, { headers: { "x-forwarded-for": forwarded } })).status;
    it("counts by the address the proxy saw, not by what the client claims before it", async () => {
      expect(await ask("203.0.113.1")).not.toBe(429);
      expect(await ask("203.0.113.1")).toBe(429);
      expect(await ask("203.0.113.2")).not.toBe(429);
      expect(await ask("6.6.6.6, 203.0.113.2")).toBe(429);
    });
    it("counts IPv6 clients by /64", async () => {
      expect(await ask("2001:db8:1:2::1")).not.toBe(429);
      expect(await ask("2001:db8:1:2:ffff::9")).toBe(429);
      expect(await ask("2001:db8:1:3::1")).not.toBe(429);
    });
    it("a header that is no address counts as the socket's", async () => {
      expect(await ask("garbage")).not.toBe(429);
      expect(await ask("other garbage")).toBe(429);
    });
  });
  it(`${target.name}: a rate that makes no sense stops the start and is named`, async () => {
    const refusal = await startRefused(target, ["--rate-limit", "fast"]);
    expect(refusal.output).toContain("fast");
    expect(refusal.output).toContain("--rate-limit");
  });
}

function lifeTests(target: CrossCuttingTarget): void {
  describe(`${target.name}: start and stop`, () => {
    it.each(["SIGTERM", "SIGINT"] as const)("%s ends it with 0, idle connections notwithstanding", async (signal) => {
      const program = await target.start([]);
      await fetch(program.url + target.health);
      const idle = await openSocket(program.port);
      expect(await program.stop(signal)).toBe(0);
      idle.destroy();
    });
    it("a port in use is named, with the flag to change it", async () => {
      const holder = createTcpServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => holder.once("listening", resolve));
      const { port } = holder.address() as { port: number };
      const refusal = await startRefused(target, ["--port", String(port)]);
      expect(refusal.output).toContain(String(port));
      expect(refusal.output).toContain("--port");
      holder.close();
    });
  });
}
