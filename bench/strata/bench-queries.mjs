// Times every kind of query in process: node bench/strata/bench-queries.mjs [--index FILE] [--rounds 300]
// Kept matches are forgotten before each query, so every number is that of a first request. "cpu" is the computing time of
// the process, which other programs on the machine do not change much; on an idle machine it equals the time on the clock.
import { parseArgs } from "node:util";
import { PackageIndex } from "../../services/strata/dist/query/package-index.js";
import { SeededRandom } from "./seeded-random.mjs";

const { values } = parseArgs({
  options: {
    index: { type: "string", default: "bench/results/strata/index.strata" },
    rounds: { type: "string", default: "300" },
  },
});
const rounds = Number(values.rounds);
const before = process.memoryUsage().rss;
const opening = performance.now();
const index = await PackageIndex.open(values.index);
const openMs = performance.now() - opening;
const total = index.header.statistics.totalRanges;
const random = new SeededRandom(7);
const paths = Array.from({ length: 2000 }, () => index.records.paths.text(random.below(index.records.paths.count)));

const search = (query) => () =>
  index.search({
    q: "a",
    exact: false,
    version: null,
    license: null,
    sort: "relevance",
    reverse: false,
    limit: 50,
    offset: 0,
    ...query,
  });
const describe =
  (q, offset = 0) =>
  () =>
    index.searchDescriptions({ q, limit: 50, offset });
const deep = (share) => Math.floor(total * share);
let turn = 0;
const eachPath = (ask) => () => ask(paths[turn++ % paths.length]);

const queries = {
  "q=a": search({}),
  "q=a, offset half": search({ offset: deep(0.4) }),
  "q=a sort=date": search({ sort: "date" }),
  "q=a sort=date, offset half": search({ sort: "date", offset: deep(0.4) }),
  "q=a sort=version": search({ sort: "version" }),
  "q=a sort=version, offset half": search({ sort: "version", offset: deep(0.4) }),
  "q=a sort=version reverse, offset third": search({ sort: "version", reverse: true, offset: deep(0.3) }),
  "q=a sort=name, offset half": search({ sort: "name", offset: deep(0.4) }),
  "q=python": search({ q: "python" }),
  "q=python, offset 300 k": search({ q: "python", offset: 300_000 }),
  "q=python sort=date, offset 300 k": search({ q: "python", sort: "date", offset: 300_000 }),
  "q=python sort=version, offset 300 k": search({ q: "python", sort: "version", offset: 300_000 }),
  "q=packages sort=version, offset 500 k": search({ q: "packages", sort: "version", offset: 500_000 }),
  "q=a version=1": search({ version: "1" }),
  "q=a version=1, offset 100 k": search({ version: "1", offset: 100_000 }),
  "q=a version=1 sort=date": search({ version: "1", sort: "date" }),
  "q=a version=1 sort=version, offset 100 k": search({ version: "1", sort: "version", offset: 100_000 }),
  "q=a version=1 sort=name, offset 100 k": search({ version: "1", sort: "name", offset: 100_000 }),
  "q=python version=3.1": search({ q: "python", version: "3.1" }),
  "q=python version=3.11.0 (few)": search({ q: "python", version: "3.11.0" }),
  "q=a version=zz (none)": search({ version: "zz" }),
  "q=a license=mit sort=date": search({ license: "mit", sort: "date" }),
  "q=a license=wtfpl (few)": search({ license: "wtfpl" }),
  "q=python version=1 license=mit sort=date": search({ q: "python", version: "1", license: "mit", sort: "date" }),
  "q=json": search({ q: "json" }),
  "q=json sort=version": search({ q: "json", sort: "version" }),
  "q=es (two letters)": search({ q: "es" }),
  "q=es version=2": search({ q: "es", version: "2" }),
  "q=requests-like path": eachPath((path) => search({ q: path.slice(-8) })()),
  "q=nothing": search({ q: "no-such-thing" }),
  "exact path": eachPath((path) => search({ q: path, exact: true })()),
  "limit=1000": search({ q: "python", limit: 1000 }),
  "description: library": describe("library"),
  "description: library, offset 5 k": describe("library", 5000),
  "description: json parser": describe("json parser"),
  "description: command line tool": describe("command line tool"),
  'description: "command line"': describe('"command line" tool'),
  "description: for the": describe("for the"),
  "description: a (prefix)": describe("a"),
  "description: p (prefix), offset 20 k": describe("p", 20_000),
  "description: nothing": describe("zzzz"),
  package: eachPath((path) => index.findPackage(path)),
  history: eachPath((path) => index.findHistory(path)),
  "package, unknown": eachPath((path) => index.findPackage(`${path}x`)),
  stats: () => index.statistics(),
};

console.log(
  `${values.index}: ${total} ranges, opened in ${openMs.toFixed(0)} ms, ` +
    `resident ${Math.round(process.memoryUsage().rss / 1e6)} MB (before ${Math.round(before / 1e6)} MB)`,
);
const titles = ["least µs", "p50 µs", "p99 µs", "p50 cpu", "p99 cpu"].map((title) => title.padStart(11)).join("");
console.log(`${"query".padEnd(44)} ${"total".padStart(9)}${titles}`);
for (const [name, run] of Object.entries(queries)) {
  for (let i = 0; i < 20; i++) run();
  const times = [];
  const cpuTimes = [];
  let body = Buffer.alloc(0);
  for (let i = 0; i < rounds; i++) {
    index.packages.matcher.forget();
    const cpuBefore = process.cpuUsage();
    const start = performance.now();
    body = run();
    times.push((performance.now() - start) * 1000);
    const cpu = process.cpuUsage(cpuBefore);
    cpuTimes.push(cpu.user + cpu.system);
  }
  times.sort((a, b) => a - b);
  cpuTimes.sort((a, b) => a - b);
  const found = Buffer.isBuffer(body) ? (JSON.parse(body.toString()).meta?.total ?? "") : "";
  const at = (sorted, share) => sorted[Math.floor(sorted.length * share)].toFixed(0).padStart(11);
  console.log(
    `${name.padEnd(44)} ${String(found).padStart(9)}${at(times, 0)}${at(times, 0.5)}${at(times, 0.99)}${at(cpuTimes, 0.5)}${at(cpuTimes, 0.99)}`,
  );
}
console.log(`resident at the end ${Math.round(process.memoryUsage().rss / 1e6)} MB`);
