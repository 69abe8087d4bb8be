// Races strata against nxv over HTTP on the same data, endpoint by endpoint of nxv's k6 mix, and prints the table:
//   node bench/strata/race-nxv.mjs [--nxv PATH] [--seconds 5] [--warm-up 3] [--connections 32] [--workers 2] [--page-cache 0]
// Makes what is missing in bench/results/strata: the generated index and nxv's database (needs python3). The load comes from
// wrk where it is installed, else from autocannon. strata's page cache is off unless told otherwise: every request is computed.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import autocannon from "autocannon";
import { PackageIndex } from "../../services/strata/dist/query/package-index.js";
import { SeededRandom } from "./seeded-random.mjs";

const FOLDER = fileURLToPath(new URL("../results/strata/", import.meta.url));
const INDEX = `${FOLDER}index.strata`;
const DATABASE = `${FOLDER}nxv.db`;
const STRATA = fileURLToPath(new URL("../../services/strata/bin/strata.js", import.meta.url));
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
/** Different addresses of an endpoint: enough that no cache of a few pages decides the race. */
const ADDRESSES = 2000;

const { values } = parseArgs({
  options: {
    nxv: { type: "string" },
    seconds: { type: "string", default: "5" },
    connections: { type: "string", default: "32" },
    "warm-up": { type: "string", default: "3" },
    workers: { type: "string", default: "2" },
    "page-cache": { type: "string", default: "0" },
  },
});

function find(program) {
  const found = spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

function makeData(hasNxv) {
  if (!existsSync(INDEX))
    spawnSync(process.execPath, [here("generate-index.mjs"), "--out", INDEX], { stdio: "inherit" });
  if (!hasNxv || existsSync(DATABASE)) return;
  console.error("writing nxv's database");
  const command = `'${process.execPath}' '${here("print-records.mjs")}' '${INDEX}' | python3 '${here("write-nxv-database.py")}' '${DATABASE}.part' && mv '${DATABASE}.part' '${DATABASE}'`;
  if (spawnSync("sh", ["-c", command], { stdio: "inherit" }).status !== 0)
    throw new Error("nxv's database was not written");
}

/** Addresses as the k6 mix asks for them: words of real names, prefixes of versions, packages that exist. */
async function makeAddresses() {
  const index = await PackageIndex.open(INDEX);
  const random = new SeededRandom(11);
  const path = () => index.records.paths.text(random.below(index.records.paths.count));
  const word = () =>
    random.pick(
      path()
        .split(/[.\-_]/)
        .filter((part) => part.length > 1),
    );
  const list = (make) => Array.from({ length: ADDRESSES }, make);
  return {
    search: list(() => `/api/v1/search?q=${encodeURIComponent(word())}`),
    "search + version": list(() => `/api/v1/search?q=${encodeURIComponent(word())}&version=${1 + random.below(9)}`),
    package: list(() => `/api/v1/packages/${encodeURIComponent(path())}`),
    history: list(() => `/api/v1/packages/${encodeURIComponent(path())}/history`),
    health: ["/api/v1/health"],
    // Last: a rival that scans its table for each goes on doing so for a while after nobody waits any more.
    stats: ["/api/v1/stats"],
  };
}

async function startServer(command, args, port) {
  const child = spawn(command, args, { stdio: "ignore", detached: true });
  for (let attempt = 0; attempt < 300; attempt++) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/health`).catch(() => undefined);
    if (answer?.ok) {
      const url = `http://127.0.0.1:${port}`;
      return { url, cpuSeconds: () => cpuSeconds(child.pid), stop: () => process.kill(-child.pid, "SIGTERM") };
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${command} did not start`);
}

/** Computing time of a process group so far, from /proc: tells the cost of a request also on a busy machine. */
function cpuSeconds(group) {
  const found = spawnSync("ps", ["-A", "-o", "pgid=,cputimes=,pid="], { encoding: "utf8" });
  let ticks = 0;
  for (const line of found.stdout.trim().split("\n")) {
    const [pgid, , pid] = line.trim().split(/\s+/);
    if (Number(pgid) !== group) continue;
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / 100;
}

async function load(server, addresses, wrk) {
  const run = (seconds) =>
    wrk === undefined
      ? loadByAutocannon(server.url, addresses, seconds)
      : loadByWrk(wrk, server.url, addresses, seconds);
  await run(values["warm-up"]);
  const before = server.cpuSeconds();
  const result = await run(values.seconds);
  return { ...result, cpuMicros: ((server.cpuSeconds() - before) / result.requests) * 1e6 };
}

function loadByWrk(wrk, url, addresses, seconds) {
  const script = `${FOLDER}addresses.lua`;
  const quoted = addresses.map((address) => JSON.stringify(address)).join(",\n");
  const tail = `local i = 0
request = function() i = i % #paths + 1; return wrk.format("GET", paths[i]) end
done = function(summary, latency)
  io.write(string.format("RESULT %f %f %d %d\\n", summary.requests / summary.duration * 1e6, latency:percentile(99) / 1000, summary.requests,
    summary.errors.status + summary.errors.read + summary.errors.timeout))
end`;
  writeFileSync(script, `local paths = {${quoted}}\n${tail}\n`);
  const args = ["-t1", `-c${values.connections}`, `-d${seconds}s`, "-s", script, url];
  const { stdout, stderr } = spawnSync(wrk, args, { encoding: "utf8" });
  const found = /RESULT ([\d.]+) ([\d.]+) (\d+) (\d+)/.exec(stdout);
  if (found === null) throw new Error(`wrk failed: ${stdout}${stderr}`);
  return { perSecond: Number(found[1]), p99: Number(found[2]), requests: Number(found[3]), errors: Number(found[4]) };
}

async function loadByAutocannon(url, addresses, seconds) {
  const result = await autocannon({
    url,
    connections: Number(values.connections),
    duration: Number(seconds),
    requests: addresses.map((path) => ({ method: "GET", path })),
  });
  return {
    perSecond: result.requests.average,
    p99: result.latency.p99,
    requests: result.requests.total,
    errors: result.errors + result.non2xx,
  };
}

const nxv = values.nxv ?? find("nxv");
if (nxv === undefined) console.log("nxv is not installed (cargo install nxv, or --nxv PATH): strata runs alone");
makeData(nxv !== undefined);
const wrk = find("wrk");
const endpoints = await makeAddresses();
const strata = await startServer(
  process.execPath,
  [
    STRATA,
    "serve",
    "--port",
    "18411",
    "--index",
    INDEX,
    "--workers",
    values.workers,
    "--page-cache",
    values["page-cache"],
    "--log-level",
    "error",
  ],
  18411,
);
const rival = nxv && (await startServer(nxv, ["--db-path", DATABASE, "serve", "--port", "18412"], 18412));
try {
  console.log(
    `${values.connections} connections, ${values.seconds} s each by ${wrk ? "wrk" : "autocannon"}; strata with ${values.workers} workers, page cache ${values["page-cache"]}`,
  );
  const row = (...cells) =>
    console.log(cells.map((cell, i) => (i === 0 ? cell.padEnd(17) : cell.padStart(12))).join(""));
  row(
    "endpoint",
    "strata req/s",
    "p99 ms",
    "cpu µs/req",
    "nxv req/s",
    "p99 ms",
    "cpu µs/req",
    "ratio",
    "cpu ratio",
    "errors",
  );
  for (const [name, addresses] of Object.entries(endpoints)) {
    const ours = await load(strata, addresses, wrk);
    const theirs = rival && (await load(rival, addresses, wrk));
    // A side that answers nothing within the time has no figures to compare.
    const cells = (side) =>
      side.requests === 0
        ? ["0", "-", "-"]
        : [side.perSecond.toFixed(0), side.p99.toFixed(1), side.cpuMicros.toFixed(0)];
    const ratios =
      theirs && theirs.requests > 0
        ? [(ours.perSecond / theirs.perSecond).toFixed(1), (theirs.cpuMicros / ours.cpuMicros).toFixed(1)]
        : ["-", "-"];
    row(
      name,
      ...cells(ours),
      ...(theirs ? cells(theirs) : ["", "", ""]),
      ...ratios,
      `${ours.errors}/${theirs?.errors ?? "-"}`,
    );
  }
} finally {
  strata.stop();
  rival?.stop();
}
