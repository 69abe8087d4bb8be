import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ApiError, createClient } from "../contract/create-client.js";
import { errors, routes } from "../testing/fixture/fixture-routes.js";
import { useFixture } from "../testing/fixture/use-fixture.js";
import { startProgram } from "../testing/start-program.js";

const PROGRAM = fileURLToPath(new URL("../../dist/testing/fixture/fixture-program.js", import.meta.url));

/** A reader that sends its request and then does as the test says with the bytes. */
function openStream(port: number, body: object): Socket {
  const text = JSON.stringify(body);
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(
    `POST /api/stream HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
  return socket;
}

async function until<T>(probe: () => Promise<T>, good: (value: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 200; tries++) {
    const value = await probe();
    if (good(value)) return value;
    await sleep(50);
  }
  throw new Error(`It never came to be; last: ${JSON.stringify(await probe())}`);
}

describe("event streams", () => {
  const fixture = useFixture({ streamLimits: { heartbeatMs: 50, maxBufferedBytes: 256 * 1024, stallMs: 500 } });
  const client = () => createClient(routes, { baseUrl: fixture.url() });
  const state = () => client().streamState();

  it("brings the events in order, typed, and ends", async () => {
    const seen: string[] = [];
    for await (const { event, data } of client().stream.events({
      body: { count: 3, everyMs: 1, padding: 0, bytes: 5 },
    })) {
      seen.push(event === "tick" ? `tick ${data.n}` : `complete ${data.data.join(" ")}`);
    }
    expect(seen).toEqual(["tick 0", "tick 1", "tick 2", "complete 0 1 2 3 4"]);
  });
  it("has the headers of a stream, the handler's own, and the id", async () => {
    const answer = await client().stream.response({
      body: { count: 1, everyMs: 0, padding: 0, bytes: 0 },
      headers: { "x-request-id": "mine" },
    });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-fixture": "yes",
      "x-request-id": "mine",
    });
    expect(await answer.text()).toBe(
      'event: tick\ndata: {"n":0}\n\nevent: complete\ndata: {"data":[],"name":"done"}\n\n',
    );
  });
  it("an error before the stream is an ordinary answer", async () => {
    const failed = client().stream.response({ body: { count: -1, everyMs: 0, padding: 0, bytes: 0 } });
    await expect(failed).rejects.toMatchObject({ status: 422, code: "VALIDATION_ERROR" });
  });
  it("an error after the headers is an event that says nothing of the inside", async () => {
    const answer = await client().stream.response({ body: { count: 5, everyMs: 0, padding: 0, failAt: 1, bytes: 0 } });
    const text = await answer.text();
    expect(text).toContain('event: error\ndata: {"code":"INTERNAL_ERROR","message":"Internal error."}\n\n');
    expect(text).not.toContain("secret");
    expect(JSON.stringify(fixture.lines())).toContain("secret inside");
    const events = client().stream.events({ body: { count: 5, everyMs: 0, padding: 0, failAt: 0, bytes: 0 } });
    await expect(events.next()).rejects.toBeInstanceOf(ApiError);
  });
  it("headers that cannot be sent are a 500, not the end of the server", async () => {
    const failed = client().stream.response({
      body: { count: 1, everyMs: 0, padding: 0, breakHeader: true, bytes: 0 },
    });
    await expect(failed).rejects.toMatchObject({ status: 500, code: "INTERNAL_ERROR" });
  });
  it("megabytes arrive whole, as integers", async () => {
    for await (const { event, data } of client().stream.events({
      body: { count: 0, everyMs: 0, padding: 0, bytes: 3_000_000 },
    })) {
      expect(event === "complete" && data.data.length).toBe(3_000_000);
      expect(event === "complete" && data.data.slice(254, 258)).toEqual([254, 255, 0, 1]);
    }
  });
  it("silence is filled with comments", async () => {
    const answer = await client().stream.response({ body: { count: 2, everyMs: 300, padding: 0, bytes: 0 } });
    expect((await answer.text()).match(/^: still here$/gm)?.length).toBeGreaterThanOrEqual(2);
  });
  it("a reader that leaves stops the producer", async () => {
    const before = (await state()).reasons.length;
    const socket = openStream(fixture.port(), { count: 1e9, everyMs: 5 });
    await until(state, ({ open }) => open === 1);
    socket.destroy();
    const after = await until(state, ({ open }) => open === 0);
    expect(after.reasons.slice(before)).toEqual(["The reader has gone"]);
  });
  it("leaving the client's loop closes the connection", async () => {
    for await (const { event } of client().stream.events({ body: { count: 1e9, everyMs: 5, padding: 0, bytes: 0 } })) {
      if (event === "tick") break;
    }
    await until(state, ({ open }) => open === 0);
  });
  it("a reader that does not read slows the producer, and is dropped when it stalls", async () => {
    const before = await state();
    const socket = openStream(fixture.port(), { count: 1e6, padding: 100_000 });
    socket.pause();
    const after = await until(state, ({ reasons }) => reasons.length > before.reasons.length);
    expect(after.reasons.at(-1)).toBe("The reader has stalled");
    // Kernel buffers take some megabytes; far from the 100 GB the producer would have made.
    expect(after.sent - before.sent).toBeLessThan(1000);
    socket.destroy();
  });
  it("a producer that does not wait loses its slow reader before memory fills", async () => {
    const before = await state();
    const socket = openStream(fixture.port(), { count: 1e6, padding: 100_000, careless: true });
    socket.pause();
    const after = await until(state, ({ reasons }) => reasons.length > before.reasons.length);
    expect(after.reasons.at(-1)).toBe("The reader is too slow");
    socket.destroy();
  });
  it("HEAD is not needed to open one, and a wrong method is 405", async () => {
    const answer = await fetch(`${fixture.url()}/api/stream`);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });
  it("open streams are counted", async () => {
    const text = await (await fetch(`${fixture.url()}/metrics`)).text();
    expect(text).toMatch(/http_event_streams_open 0/);
  });
});

describe("a real program with a stream open", () => {
  const start = () => startProgram({ command: process.execPath, args: [PROGRAM] });
  it("SIGTERM ends the stream with an event and the program with 0", async () => {
    const program = await start();
    const answer = await fetch(`${program.url}/api/stream`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ count: 1000, everyMs: 100 }),
    });
    const text = answer.text();
    await sleep(250);
    const exit = program.stop("SIGTERM");
    const { code } = errors.SERVICE_UNAVAILABLE();
    expect(await text).toMatch(
      new RegExp(`event: error\\ndata: {"code":"${code}","message":"The server is shutting down"}\\n\\n$`),
    );
    expect(await exit).toBe(0);
  });
  it("a stream that may finish does, and so do requests under way", async () => {
    const program = await start();
    const body = JSON.stringify({ count: 8, everyMs: 100, finish: true });
    const slow = fetch(`${program.url}/api/slow/2000`);
    const stream = await fetch(`${program.url}/api/stream`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    await sleep(200);
    const exit = program.stop("SIGINT");
    expect(await stream.text()).toContain("event: complete");
    expect(await (await slow).json()).toEqual({ waited: 2000 });
    expect(await exit).toBe(0);
    await expect(fetch(`${program.url}/health`)).rejects.toThrow();
  });
});
