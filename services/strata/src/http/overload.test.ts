import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { createLog, type KernelServer } from "@kit/http-kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeIndex } from "../store/index.js";
import { makeFolder, makeRecord, NO_META } from "../testing/make-records.js";
import { Admission } from "./admission.js";
import { createPackageServer } from "./create-package-server.js";

const LONGEST_LINE = 8;
const SEARCHES = 40;
/** So little that one query uses up a turn of the event loop and all others have to wait in line. */
const TURN_MS = 1e-6;

let folder: string;
let server: KernelServer;
let port: number;
const sockets: Socket[] = [];

beforeAll(async () => {
  folder = await makeFolder();
  const indexPath = join(folder, "index.strata");
  const records = Array.from({ length: 500 }, (_, i) => makeRecord({ attributePath: `tool${i}` }));
  await writeIndex(records, NO_META, indexPath);
  server = await createPackageServer({
    indexPath,
    version: "0.0.0",
    log: createLog({ name: "strata", level: "silent" }),
    pageCacheBytes: 0,
    admission: new Admission({ turnMs: TURN_MS, longestLine: LONGEST_LINE }),
  });
  const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
  port = Number(new URL(url).port);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** A connection that the server has already answered on. */
async function openConnection(): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  expect(await ask(socket, "health")).toMatch(/^HTTP\/1.1 200 /);
  return socket;
}

function ask(socket: Socket, path: string): Promise<string> {
  const answer = new Promise<string>((resolve) => {
    let received = "";
    const read = (chunk: Buffer) => {
      received += chunk.toString("latin1");
      const [head, body] = received.split("\r\n\r\n", 2);
      const length = Number(/content-length: (\d+)/i.exec(head!)?.[1]);
      if (body === undefined || body.length < length) return;
      socket.off("data", read);
      resolve(received);
    };
    socket.on("data", read);
  });
  socket.write(`GET /api/v1/${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return answer;
}

describe("more searches at once than may wait", () => {
  it("are refused at once with 503 and Retry-After; those in line and health are answered", async () => {
    const connections = await Promise.all(Array.from({ length: SEARCHES }, openConnection));
    const forHealth = await openConnection();
    const ended: string[] = [];
    const note = (what: string) => (answer: string) => {
      ended.push(what === "search" ? `search ${answer.slice(9, 12)}` : what);
      return answer;
    };
    // All are written in one go, so that the server finds them together; health comes last.
    const searches = connections.map((socket) => ask(socket, "search?q=tool").then(note("search")));
    const health = ask(forHealth, "health").then(note("health"));
    const answers = await Promise.all(searches);
    await health;

    const refused = answers.filter((answer) => answer.startsWith("HTTP/1.1 503 "));
    expect(answers.filter((answer) => answer.startsWith("HTTP/1.1 200 "))).toHaveLength(SEARCHES - refused.length);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect(answer).toMatch(/\r\nretry-after: 1\r\n/i);
      expect(answer).toContain('"code":"OVERLOADED"');
    }
    const lastWaiting = ended.lastIndexOf("search 200");
    expect(ended.lastIndexOf("search 503"), ended.join()).toBeLessThan(lastWaiting);
    expect(ended.indexOf("health"), ended.join()).toBeLessThan(lastWaiting);
    expect(await ask(forHealth, "search?q=tool")).toMatch(/^HTTP\/1.1 200 /);
  });
});
