/**
 * UNet calls of all engines in turn, one call each, round after round: where a machine's speed changes from minute to minute, all meet the same minutes.
 *
 *   node bench/engine/take-turns.mjs [--threads 2] [--python PYTHON] [--cache FOLDER] [--rounds 10] [--json]
 *
 * The weights are those of run.mjs. All engines stay loaded, which takes about 16 GB of memory.
 */
import { spawn } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { recommendedEnvironment } from "../../packages/onnx-graph/dist/index.js";
import { makeCheckpoints } from "./make-checkpoint.mjs";

const { values } = parseArgs({
  options: {
    threads: { type: "string", default: String(os.availableParallelism()) },
    python: { type: "string", default: "python3" },
    cache: { type: "string", default: path.join(os.tmpdir(), "easel-bench") },
    rounds: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
});

const easel = path.join(import.meta.dirname, "measure-easel.mjs");
const diffusers = path.join(import.meta.dirname, "measure_diffusers.py");
const { f16, f32 } = await makeCheckpoints(values.cache);
const ours = recommendedEnvironment(process.env);

const ENGINES = [
  ["diffusers, PyTorch float32", values.python, [diffusers, f32, values.threads, "float32", "turns"], process.env],
  ["diffusers, PyTorch bfloat16", values.python, [diffusers, f32, values.threads, "bfloat16", "turns"], process.env],
  ["easel, float32", process.execPath, [easel, f16, values.threads, "fold", "turns"], ours],
  ["easel, int8", process.execPath, [easel, f16, values.threads, "fold", "int8", "turns"], ours],
];

/** Starts one, and gives it turns. */
async function start([label, command, args, env]) {
  const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${label} ended`);
    return value;
  };
  // loaders may print before
  while ((await next()) !== "ready");
  const take = async () => {
    child.stdin.write("\n");
    return JSON.parse(await next());
  };
  return { label, take, walls: [], cpus: [], end: () => child.stdin.end() };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

const engines = [];
for (const engine of ENGINES) engines.push(await start(engine));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const engine of engines) {
    const { wall, cpu } = await engine.take();
    engine.walls.push(wall);
    engine.cpus.push(cpu);
  }
}
for (const engine of engines) engine.end();

const [peer] = engines;
console.log(`${values.rounds} rounds, ${values.threads} threads of ${os.cpus()[0]?.model}; medians`);
console.log(`| engine | s / UNet call | CPU s | of ${peer.label}, median of the rounds | least and most |`);
console.log("|---|---|---|---|---|");
for (const { label, walls, cpus } of engines) {
  const ratios = walls.map((wall, round) => wall / peer.walls[round]);
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  console.log(
    `| ${label} | ${median(walls).toFixed(2)} | ${median(cpus).toFixed(1)} | ${median(ratios).toFixed(2)} | ${range} |`,
  );
}
if (values.json) console.log(JSON.stringify(engines.map(({ label, walls, cpus }) => ({ label, walls, cpus }))));
