/**
 * How long prompt expansion takes with the built-in model: `node bench/expand/run.mjs [--rounds N]` (needs the build).
 * Cold is the first request: starting the process, loading the model, answering.
 */
import { createExpander } from "../../services/easel/dist/expand/create-expander.js";

const at = process.argv.indexOf("--rounds");
const rounds = at > 0 ? Number(process.argv[at + 1]) : 40;
const settings = { expandTimeout: 60_000, expandRetries: 0, expandGpu: "off", expandIdle: 60_000 };
const expander = createExpander({ settings });
const timed = async (order) => {
  const start = performance.now();
  await expander.expand(order);
  return performance.now() - start;
};
const row = (what, times) => {
  const sorted = [...times].sort((a, b) => a - b);
  const quantile = (q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))].toFixed(1);
  console.log(`| ${what} | ${sorted.length} | ${quantile(0.5)} | ${quantile(0.95)} |`);
};

console.log("| request | times | p50 ms | p95 ms |\n| --- | --- | --- | --- |");
const cold = [];
for (let i = 0; i < 5; i++) {
  await expander.release();
  cold.push(await timed({ prompt: "a red fox", family: "doodle", variations: 1, seed: i }));
}
row("cold, doodle", cold);
for (const family of ["doodle", "sdxl", "flux"]) {
  const times = [];
  for (let i = 0; i < rounds; i++) times.push(await timed({ prompt: "a red fox", family, variations: 1, seed: i }));
  row(`warm, ${family}`, times);
}
const eight = [];
for (let i = 0; i < Math.ceil(rounds / 4); i++)
  eight.push(await timed({ prompt: "a red fox", family: "doodle", variations: 8, seed: i }));
row("warm, doodle, 8 variations", eight);
await expander.close();
