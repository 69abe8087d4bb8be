// Load figures of the easel server: one command, one table. `node bench/easel/run.mjs [generations]`
// The real program, the real engine, a tiny seeded model: what is measured is the server, not the drawing.
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, get, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { writeTinyCheckpoint } from "@kit/diffusion/testing";

const GENERATIONS = Number(process.argv[2] ?? 1_000);
const IDLE_CLIENTS = 500;
const PROGRAM = fileURLToPath(new URL("../../services/easel/bin/easel.js", import.meta.url));
const rows = [];
const row = (what, figure, aim = "") => {
  rows.push({ what, figure, aim });
  console.error(`  ${what}: ${figure}`);
};

const folder = await mkdtemp(join(tmpdir(), "easel-bench-"));
for (const [index, name] of ["one", "two", "three"].entries()) {
  await writeTinyCheckpoint(join(folder, "models", "local", name), {
    seed: index + 1,
    kind: name === "three" ? "sdxl" : "sd1",
  });
}
const server = spawn(
  process.execPath,
  [
    PROGRAM,
    "serve",
    "--port",
    "0",
    "--model",
    "one",
    "--backend",
    "cpu",
    "--max-queue",
    "2000",
    "--log-level",
    "warn",
    "--output-dir",
    "",
  ],
  {
    env: {
      ...process.env,
      SERVICE_MODELS_DIR: join(folder, "models"),
      XDG_DATA_HOME: folder,
      XDG_CACHE_HOME: folder,
      XDG_STATE_HOME: folder,
    },
    stdio: ["ignore", "pipe", "inherit"],
  },
);
const url = await new Promise((resolve) => server.stdout.on("data", (data) => resolve(/http:\S+/.exec(data)[0])));
const post = (path, body) =>
  fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
const draw = async (body) => {
  const response = await post("/api/generate", body);
  if (!response.ok) throw new Error(await response.text());
  return response.arrayBuffer();
};

const residentMb = (pid) => Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)]).toString()) / 1024;
const enginePid = () => {
  try {
    return execFileSync("pgrep", ["-P", String(server.pid), "-f", "engine-process"])
      .toString()
      .trim()
      .split("\n")[0];
  } catch {
    return undefined;
  }
};
const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
const show = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  return `p50 ${percentile(sorted, 0.5).toFixed(1)} ms, p99 ${percentile(sorted, 0.99).toFixed(1)} ms, max ${sorted.at(-1).toFixed(1)} ms (${sorted.length} requests)`;
};

/** Asks one path again and again on one kept-alive connection until told to stop. */
function poll(path, everyMs) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times = [];
  const endedAt = [];
  let on = true;
  const done = (async () => {
    while (on) {
      const started = performance.now();
      await new Promise((resolve, reject) =>
        get(url + path, { agent }, (r) => r.resume().on("end", resolve)).on("error", reject),
      );
      times.push(performance.now() - started);
      endedAt.push(Date.now());
      await wait(everyMs);
    }
    agent.destroy();
  })();
  /** Times of the requests that ended between two moments, or of all. */
  return async (from = 0, to = Number.MAX_VALUE) => {
    on = false;
    await done;
    return times.filter((_, i) => endedAt[i] >= from && endedAt[i] <= to);
  };
}

/** Reads a stream in a thread of its own, so that the reader's work does not count as the server's. */
const readStream = (body) =>
  new Promise((resolve, reject) => {
    const code = `
      const { parentPort, workerData } = require("node:worker_threads");
      const { request } = require("node:http");
      const out = request(workerData.url, { method: "POST", headers: { "content-type": "application/json" } }, (response) => {
        let bytes = 0, completeAt = 0, tail = "";
        response.on("data", (chunk) => {
          bytes += chunk.length;
          if (!completeAt) { tail = (tail + chunk.toString("latin1")).slice(-100_000); if (tail.includes("event: complete")) completeAt = Date.now(); }
        });
        response.on("end", () => parentPort.postMessage({ bytes, completeAt, endAt: Date.now() }));
      });
      out.end(JSON.stringify(workerData.body));`;
    const worker = new Worker(code, { eval: true, workerData: { url: `${url}/api/generate/stream`, body } });
    worker.once("message", resolve);
    worker.once("error", reject);
  });

try {
  await draw({ prompt: "warm", width: 64, height: 64, steps: 1 });

  // 0. what this machine's own noise is
  const quiet = poll("/health", 5);
  await wait(5_000);
  row("/health, nothing else going on", show(await quiet()), "the machine's own noise");

  // 1. health and status while the engine is busy
  const busy = readStream({ prompt: "x", width: 512, height: 512, steps: 100 });
  await wait(300);
  const [health, status] = [poll("/health", 5), poll("/api/status", 5)];
  await busy;
  row("/health during a generation", show(await health()), "p99 < 20 ms");
  row("/api/status during a generation", show(await status()), "p99 < 20 ms");

  // 2. a large picture as an array of integers
  const size = { prompt: "x", width: 1216, height: 1216, steps: 1, guidance: 1 };
  const bytes = (await draw(size)).byteLength;
  await readStream(size);
  const other = poll("/health", 1);
  const sent = await readStream(size);
  row(
    `sending ${(bytes / 1e6).toFixed(1)} MB as integers`,
    `${sent.endAt - sent.completeAt} ms, ${(sent.bytes / 1e6).toFixed(1)} MB on the wire`,
  );
  row("/health while it is sent", show(await other(sent.completeAt, sent.endAt)), "max < 50 ms");

  // 3. many idle event streams
  const before = residentMb(server.pid);
  const blocker = request(
    `${url}/api/generate/stream`,
    { method: "POST", headers: { "content-type": "application/json" } },
    (r) => r.resume(),
  );
  blocker.on("error", () => {});
  blocker.end(JSON.stringify({ prompt: "x", width: 512, height: 512, steps: 150, batch: 16 }));
  await wait(500);
  let queued = 0;
  const clients = Array.from({ length: IDLE_CLIENTS }, () => {
    const client = request(
      `${url}/api/generate/stream`,
      { method: "POST", headers: { "content-type": "application/json" } },
      (response) => response.once("data", () => queued++).on("error", () => {}),
    );
    client.on("error", () => {});
    client.end(JSON.stringify({ prompt: "x", width: 64, height: 64, steps: 1 }));
    return client;
  });
  const openedAt = performance.now();
  while (queued < IDLE_CLIENTS) await wait(10);
  row(`${IDLE_CLIENTS} event streams opened and queued`, `${(performance.now() - openedAt).toFixed(0)} ms`);
  const held = poll("/health", 5);
  await wait(12_000);
  row(`/health with ${IDLE_CLIENTS} idle streams (12 s, with heartbeats)`, show(await held()), "p99 < 20 ms");
  row("server memory for them", `${(residentMb(server.pid) - before).toFixed(0)} MB`);
  for (const client of clients) client.destroy();
  blocker.destroy();
  const leftAt = performance.now();
  const alive = async () =>
    (await (await fetch(`${url}/api/jobs`)).json()).jobs.some((job) => ["queued", "running"].includes(job.state));
  while (await alive()) await wait(50);
  row("all of them cancelled after their clients left", `${(performance.now() - leftAt).toFixed(0)} ms`);

  // 4. many generations with model swaps
  const memory = [];
  const startedAt = performance.now();
  for (let i = 0; i < GENERATIONS; i++) {
    const model = ["one", "two", "three"][Math.floor(i / 10) % 3];
    await draw({ prompt: `picture ${i}`, model, width: 64, height: 64, steps: 1, seed: i });
    if ((i + 1) % Math.max(1, Math.floor(GENERATIONS / 10)) === 0) {
      const engine = enginePid();
      memory.push([i + 1, residentMb(server.pid), engine ? residentMb(engine) : 0]);
    }
  }
  row(
    `${GENERATIONS} generations, a swap every 10`,
    `${((performance.now() - startedAt) / GENERATIONS).toFixed(1)} ms each`,
  );
  row("server memory along the way", memory.map(([, mb]) => mb.toFixed(0)).join(" "), "flat");
  row("engine memory along the way", memory.map(([, , mb]) => mb.toFixed(0)).join(" "), "flat");

  // 5. memory after unloading
  await fetch(`${url}/api/models/unload`, { method: "DELETE" });
  row("engine processes after unload", enginePid() ? "1" : "none: all memory returned", "none");
} finally {
  server.kill();
  await new Promise((resolve) => server.once("exit", resolve));
  await rm(folder, { recursive: true, force: true });
}

console.log(
  `\n| What | Measured | Aim |\n|---|---|---|\n${rows.map((r) => `| ${r.what} | ${r.figure} | ${r.aim} |`).join("\n")}`,
);
process.exit(0);
