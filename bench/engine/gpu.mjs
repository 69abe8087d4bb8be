/**
 * Measures our nets on this machine's GPU, checks their numbers against the CPU's, and draws the shipped model on each backend:
 *
 *   node bench/engine/gpu.mjs [--backend webgpu,cuda,cpu] [--precision fp16,fp32] [--out FOLDER] [--cache FOLDER] [--model FOLDER]
 *                             [--python PYTHON] [--limit SECONDS] [--tiny] [--keep]
 *
 * Random weights of the true Stable Diffusion 1.5 architecture, 512x512 (2 GB, written once to the cache folder). Each part is a fresh
 * process with a time limit of its own; a part that fails says why and the others go on. --python adds PyTorch's figures for scale.
 * The CPU is always measured, because its numbers are what the others are compared with; --keep takes them from an earlier run's --out. Build first (npm run build).
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { recommendedEnvironment } from "../../packages/onnx-graph/dist/index.js";
import { makeCheckpoint, TINY_CONFIGS } from "./make-checkpoint.mjs";

const here = import.meta.dirname;
const { values } = parseArgs({
  options: {
    backend: { type: "string", default: "webgpu,cuda,cpu" },
    precision: { type: "string", default: "fp16,fp32" },
    out: { type: "string", default: path.join(os.tmpdir(), "easel-bench-gpu") },
    cache: { type: "string", default: path.join(os.tmpdir(), "easel-bench") },
    model: { type: "string", default: path.join(here, "../../models/doodle") },
    python: { type: "string" },
    limit: { type: "string", default: "60" },
    tiny: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
  },
});
const backends = values.backend.split(",").filter((name) => name !== "cpu");
const precisions = values.precision.split(",");
const folder = path.join(values.cache, values.tiny ? "tiny-f16" : "sd15-f16");
const script = (name) => path.join(here, name);
const outOf = (name) => path.join(values.out, name);

/** Runs one part; gives its JSON, or the last lines of what went wrong. */
function runPart(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: recommendedEnvironment(process.env), stdio: ["ignore", "pipe", "pipe"] });
    const words = { out: "", err: "" };
    const timer = setTimeout(() => child.kill("SIGKILL"), Number(values.limit) * 1000);
    child.stdout.on("data", (chunk) => {
      words.out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      words.err += chunk;
    });
    child.on("error", (error) => resolve({ problem: error.message }));
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const line = words.out.trim().split("\n").at(-1) ?? "";
      if (code === 0 && line.startsWith("{")) return resolve(JSON.parse(line));
      const how = signal ? `ended by ${signal} (limit ${values.limit} s)` : `exit code ${code}`;
      resolve({ problem: `${how}; ${`${words.err}\n${line}`.trim().slice(-1500)}` });
    });
  });
}

const readFloats = (file) => {
  const bytes = readFileSync(file);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
};

/** Largest difference relative to the largest value of the reference; NaN counts as infinite. */
function differ(file, reference) {
  if (!existsSync(file) || !existsSync(reference)) return undefined;
  const [found, wanted] = [readFloats(file), readFloats(reference)];
  let worst = 0;
  let scale = 0;
  for (const [i, value] of wanted.entries()) {
    const apart = Math.abs(found[i] - value);
    worst = Number.isNaN(apart) ? Number.POSITIVE_INFINITY : Math.max(worst, apart);
    scale = Math.max(scale, Math.abs(value));
  }
  return worst / scale;
}

const shown = (value, digits = 4) => (value === undefined ? "-" : value.toFixed(digits));
const pair = (value) => (value ? `${shown(value.best)}${value.first ? ` (${shown(value.first, 2)})` : ""}` : "-");
const ratio = (value) => (value === undefined ? "-" : value.toExponential(1));

const results = {};
const say = (line) => {
  console.log(line);
  results.lines = [...(results.lines ?? []), line];
  writeFileSync(outOf("results.json"), JSON.stringify(results, null, 1));
};

async function addRow(label, command, args) {
  const result = await runPart(command, args);
  results[label] = result;
  if (result.problem !== undefined) return say(`| ${label} | failed: ${result.problem.replaceAll("\n", " / ")} |`);
  const [unet, vae] = ["unet.f32", "vae.f32"].map((name) =>
    differ(outOf(`${label}/${name}`), outOf(`cpu-fp32/${name}`)),
  );
  const cells = [pair(result.unet), pair(result.unet2), pair(result.vae), pair(result.text)];
  say(`| ${label} | ${[...cells, shown(result.load, 2), result.gpuMb ?? "-", ratio(unet), ratio(vae)].join(" | ")} |`);
}

mkdirSync(values.out, { recursive: true });
await makeCheckpoint(folder, "F16", values.tiny ? TINY_CONFIGS : undefined);
say(
  `${values.tiny ? "tiny" : "Stable Diffusion 1.5"} nets, random weights in F16, 512x512; best of five calls (first call in brackets)`,
);
say(
  "| backend | s / UNet call | s / UNet call, batch 2 | s / VAE decode | s / text encode | s to load UNet | GPU MiB | UNet off the CPU's by | VAE |",
);
say("|---|---|---|---|---|---|---|---|---|");
const nets = (backend, precision) => [
  script("measure-gpu.mjs"),
  folder,
  backend,
  precision,
  outOf(`${backend}-${precision}`),
];
const kept = values.keep && existsSync(outOf("cpu-fp32/vae.f32"));
if (!kept) await addRow("cpu-fp32", process.execPath, nets("cpu", "fp32"));
for (const backend of backends) {
  for (const precision of precisions)
    await addRow(`${backend}-${precision}`, process.execPath, nets(backend, precision));
}
if (values.python) {
  const netsFolder = path.join(here, "../../tools/train-doodle");
  for (const [precision, dtype] of [
    ["fp16", "float16"],
    ["fp32", "float32"],
  ]) {
    const label = `torch-${precision}`;
    await addRow(label, values.python, [script("measure_torch_gpu.py"), folder, netsFolder, dtype, outOf(label)]);
  }
}
if (existsSync(path.join(values.model, "model_index.json"))) {
  for (const backend of [...(kept ? [] : ["cpu"]), ...backends]) {
    const label = `doodle-${backend}`;
    const result = await runPart(process.execPath, [script("draw-doodle.mjs"), values.model, backend, outOf(label)]);
    results[label] = result;
    if (result.problem === undefined) {
      const [found, wanted] = [label, "doodle-cpu"].map((name) => readFileSync(outOf(`${name}/doodle.rgb`)));
      const apart = found.map((value, i) => Math.abs(value - wanted[i]));
      result.largest = apart.reduce((a, b) => Math.max(a, b), 0);
      result.mean = apart.reduce((a, b) => a + b, 0) / apart.length;
    }
    say(`${label}: ${JSON.stringify(result)}`);
  }
} else say(`no doodle: ${values.model} is missing`);
for (const backend of backends) {
  const profile = await runPart(process.execPath, [...nets(backend, "fp16"), "--profile"]);
  results[`profile-${backend}`] = profile;
  say(`profile of ${backend}, fp16: ${profile.problem ?? `${shown(profile.wall)} s a call`}`);
  for (const { key, calls, ms } of profile.operators ?? [])
    say(`  ${ms.toFixed(1).padStart(9)} ms ${String(calls).padStart(6)}x ${key}`);
}
