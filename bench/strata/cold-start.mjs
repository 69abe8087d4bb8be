// Times a start of the real program, from the start of its process to the first answered search:
// node bench/strata/cold-start.mjs [--index FILE] [--times 10] [--program services/strata/bin/strata.js]
// "cpu" is the computing time of the server's process until then, which other programs on the machine do not change much.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    index: { type: "string", default: "bench/results/strata/index.strata" },
    times: { type: "string", default: "10" },
    program: { type: "string", default: "services/strata/bin/strata.js" },
  },
});
/** Short against what is measured, long enough not to take the server's core away. */
const POLL_MS = 5;
const LONGEST_START_MS = 30_000;
const SEARCH = "/api/v1/search?q=python&version=3.1&sort=version";

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function ask(port) {
  return new Promise((resolve) => {
    get({ host: "127.0.0.1", port, path: SEARCH, agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    }).on("error", () => resolve(undefined));
  });
}

/** Computing time of a process in milliseconds, where the system tells. */
function cpuOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

async function startOnce() {
  const port = await freePort();
  const started = performance.now();
  const server = spawn(
    process.execPath,
    [values.program, "serve", "--index", values.index, "--host", "127.0.0.1", "--port", String(port)],
    { stdio: "ignore" },
  );
  const ended = new Promise((resolve) => server.once("exit", resolve));
  try {
    for (let status = await ask(port); status !== 200; status = await ask(port)) {
      if (server.exitCode !== null) throw new Error(`The server ended with ${server.exitCode} before it answered.`);
      if (performance.now() - started > LONGEST_START_MS) {
        throw new Error(`The search was not answered (${status ?? "no connection"}): is '${values.index}' an index?`);
      }
      await sleep(POLL_MS);
    }
    return { ms: performance.now() - started, cpu: cpuOf(server.pid) };
  } finally {
    server.kill("SIGTERM");
    await ended;
  }
}

const runs = [];
for (let i = 0; i < Number(values.times); i++) runs.push(await startOnce());
const describe = (name, numbers) => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const [least, median, most] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)].map((ms) => ms.toFixed(0));
  console.log(`${name.padEnd(28)} least ${least} ms, median ${median} ms, most ${most} ms`);
};
console.log(`${values.program} serve --index ${values.index}, ${runs.length} starts, Node ${process.versions.node}`);
describe(
  "first search answered after",
  runs.map(({ ms }) => ms),
);
describe(
  "computing time until then",
  runs.map(({ cpu }) => cpu),
);
