/**
 * Races our nets against diffusers on PyTorch (and stable-diffusion.cpp where it is installed) on this machine's CPU:
 *
 *   node bench/engine/run.mjs [--threads 2] [--python PYTHON] [--cache FOLDER] [--only WORD] [--json]
 *
 * --only takes the rows whose name has the word (easel, diffusers, int8 ...).
 *
 * Random weights of the true Stable Diffusion 1.5 architecture, 512x512, one picture, no guidance; each row is a fresh process.
 * Build first (npm run build). The first run writes 6 GB of weights to the cache folder.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { recommendedEnvironment } from "../../packages/onnx-graph/dist/index.js";
import { makeCheckpoints } from "./make-checkpoint.mjs";

const { values } = parseArgs({
  options: {
    threads: { type: "string", default: String(os.availableParallelism()) },
    python: { type: "string", default: "python3" },
    cache: { type: "string", default: path.join(os.tmpdir(), "easel-bench") },
    only: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

const here = import.meta.dirname;
const easel = path.join(here, "measure-easel.mjs");
const diffusers = path.join(here, "measure_diffusers.py");
const sdcpp = path.join(here, "measure_sdcpp.py");
const { f16, f32 } = await makeCheckpoints(values.cache);

const ROWS = [
  ["easel", "easel, F16 file, folded at load", process.execPath, [easel, f16, values.threads, "fold"]],
  ["easel", "easel, F32 file, folded at load", process.execPath, [easel, f32, values.threads, "fold"]],
  ["easel", "easel, F16 file, converted per call", process.execPath, [easel, f16, values.threads, "cast"]],
  ["easel", "easel, F16 file, int8", process.execPath, [easel, f16, values.threads, "fold", "int8"]],
  ["easel", "easel, F16 file, q8", process.execPath, [easel, f16, values.threads, "fold", "q8"]],
  ["diffusers", "diffusers, PyTorch float32", values.python, [diffusers, f32, values.threads, "float32"]],
  ["diffusers", "diffusers, PyTorch bfloat16", values.python, [diffusers, f32, values.threads, "bfloat16"]],
  ["sdcpp", "stable-diffusion.cpp, F16", values.python, [sdcpp, f16, values.threads]],
];

/** Runs one row; gives its JSON, or the last line of what went wrong. */
function measure(command, args, env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    child.on("error", (error) => resolve({ problem: error.message }));
    child.on("close", (code) => {
      const line = out.trim().split("\n").at(-1) ?? "";
      if (code === 0 && line.startsWith("{")) resolve(JSON.parse(line));
      else resolve({ problem: err.trim().split("\n").at(-1) ?? `exit code ${code}` });
    });
  });
}

const fixed = (value, digits = 2) => (value === undefined ? "-" : value.toFixed(digits));

function printRow(label, result) {
  if (result.problem !== undefined) {
    console.log(`| ${label} | skipped: ${result.problem} |`);
    return;
  }
  const { unet, vae, text, ready, firstStep, peakMb } = result;
  const cells = [
    `${fixed(unet?.wall)} (${fixed(unet?.cpu, 1)})`,
    `${fixed(vae?.wall)} (${fixed(vae?.cpu, 1)})`,
    fixed(text?.wall, 3),
    fixed(ready, 1),
    fixed(firstStep, 1),
    peakMb ?? "-",
  ];
  console.log(`| ${label} | ${cells.join(" | ")} |`);
}

const cpu = os.cpus()[0]?.model ?? "unknown CPU";
console.log(`Stable Diffusion 1.5 architecture, random weights, 512x512, ${values.threads} threads of ${cpu}`);
console.log(
  `load average at the start: ${os.loadavg()[0]?.toFixed(1)}; best of three calls; CPU seconds in brackets\n`,
);
console.log(
  "| engine | s / UNet call | s / VAE decode | s / text encode | s to ready | s to first step done | peak MiB |",
);
console.log("|---|---|---|---|---|---|---|");
const all = {};
for (const [group, label, command, args] of ROWS) {
  if (values.only && !label.includes(values.only)) continue;
  // our engine's process is started this way too
  const env = group === "easel" ? recommendedEnvironment(process.env) : process.env;
  all[label] = await measure(command, args, env);
  printRow(label, all[label]);
}
const tokenizer = path.join(here, "../../models/doodle/tokenizer");
if ((values.only ?? "easel") === "easel" && existsSync(tokenizer)) {
  const args = [path.join(here, "measure-cold-start.mjs"), f16, tokenizer, values.threads];
  const cold = await measure(process.execPath, args, process.env);
  all["cold start"] = cold;
  const first = `the first step began ${fixed(cold.begun, 1)} s after nothing ran and was done after ${fixed(cold.firstStepDone, 1)} s`;
  console.log(`\neasel's whole engine, F16 file: ${cold.problem ?? first}`);
}
if (values.json) console.log(JSON.stringify(all));
