/** One measurement of our engine's nets in a process of its own: node measure-easel.mjs FOLDER THREADS WEIGHTS [QUANTISE]. Prints one line of JSON. */
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import ort from "onnxruntime-node";
import {
  buildAutoencoderKLDecoder,
  buildCLIPTextModel,
  buildUNet2DConditionModel,
  openCheckpoint,
} from "../../packages/diffusion/dist/models/index.js";
import { computeWeights, recommendedSessionOptions } from "../../packages/onnx-graph/dist/index.js";
import { findFilterBlock } from "../../services/easel/dist/engine/find-filter-block.js";
import { nameScratchFile } from "../../services/easel/dist/engine/scratch-file.js";

const [folder, threadCount, weights, quantise] = process.argv.slice(2);
const threads = Number(threadCount);
const CALLS = 3;

const filterBlock = weights === "fold" ? await findFilterBlock() : undefined;

/** As the engine does it (pipeline-model.ts, runtime-session.ts). */
async function createSession(build, bytes, changes = {}) {
  const computedFile = nameScratchFile(bytes, tmpdir());
  const cpu = { target: "cpu", compute: "fp32", weights, computedFile };
  const chosen = { ...cpu, ...(filterBlock ? { filterBlock } : {}), ...(quantise ? { quantise } : {}), ...changes };
  try {
    const graph = build(chosen);
    await computeWeights(graph.work, threads);
    return await ort.InferenceSession.create(graph.proto, recommendedSessionOptions(graph, chosen, threads));
  } finally {
    rmSync(computedFile, { force: true });
  }
}

function peakMegabytes() {
  const found = /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"));
  return found ? Math.round(Number(found[1]) / 1024) : undefined;
}

const seconds = (since) => (performance.now() - since) / 1000;
const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

async function timed(call) {
  const start = performance.now();
  const cpu = cpuSeconds();
  await call();
  return { wall: seconds(start), cpu: cpuSeconds() - cpu };
}

/** The best of several: what the machine can do when it is left alone. */
async function best(call, times = CALLS) {
  let least = await timed(call);
  for (let i = 1; i < times; i++) {
    const next = await timed(call);
    least = { wall: Math.min(least.wall, next.wall), cpu: Math.min(least.cpu, next.cpu) };
  }
  return least;
}

const noise = (count) => Float32Array.from({ length: count }, (_, i) => Math.sin(i * 12.9898 + 78.233) * 1.4);
const tensor = (shape) => new ort.Tensor("float32", noise(shape.reduce((a, b) => a * b, 1)), shape);

const checkpoint = await openCheckpoint(folder);
const { textEncoder, unet, vae } = checkpoint;
const gigabyte = 2 ** 30;
const text = await createSession(
  (chosen) => buildCLIPTextModel(textEncoder.config, textEncoder.source, chosen),
  gigabyte,
  { weights: "cast" },
);
const ids = new ort.Tensor("int32", new Int32Array(77).fill(320), [1, 77]);
const { hidden_state: states } = await text.run({ input_ids: ids });
const loadStart = performance.now();
const net = await createSession((chosen) => buildUNet2DConditionModel(unet.config, unet.source, chosen), 4 * gigabyte);
const loadUNet = seconds(loadStart);
const feeds = {
  sample: tensor([1, 4, 64, 64]),
  timestep: new ort.Tensor("float32", Float32Array.of(501), [1]),
  encoder_hidden_states: states,
};
// performance.now() counts from the start of the process
const ready = performance.now() / 1000;
await net.run(feeds);
const firstStep = performance.now() / 1000;
const unetCall = await best(() => net.run(feeds));
const textCall = await best(() => text.run({ input_ids: ids }));
await text.release();
await net.release();
const decoder = await createSession((chosen) => buildAutoencoderKLDecoder(vae.config, vae.source, chosen), gigabyte, {
  quantise: undefined,
});
const vaeCall = await best(() => decoder.run({ latents: tensor([1, 4, 64, 64]) }), 2);
console.log(
  JSON.stringify({ loadUNet, ready, firstStep, unet: unetCall, text: textCall, vae: vaeCall, peakMb: peakMegabytes() }),
);
