/**
 * One measurement of our engine's nets in a process of its own: node measure-easel.mjs FOLDER THREADS WEIGHTS [q8|q4|int8] [turns]. Prints one line of JSON.
 * With "turns" a UNet call for each line of input instead, a line of JSON each.
 */
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import ort from "onnxruntime-node";
import {
  buildAutoencoderKLDecoder,
  buildCLIPTextModel,
  buildUNet2DConditionModel,
  openCheckpoint,
} from "../../packages/diffusion/dist/models/index.js";
import {
  needsComputedWeights,
  recommendedSessionOptions,
  removeComputedFiles,
  startWeights,
} from "../../packages/onnx-graph/dist/index.js";
import { findFilterBlock } from "../../services/easel/dist/engine/find-filter-block.js";
import { nameScratchFile } from "../../services/easel/dist/engine/scratch-file.js";

const [folder, threadCount, weights, ...rest] = process.argv.slice(2);
const form = rest.find((word) => word !== "turns");
const turns = rest.includes("turns");
const threads = Number(threadCount);
const CALLS = 3;

/** As pipeline-model.ts has it: blocks are for nets with adapters, bytes for all but text encoders. */
const FORMS = {
  text: { ...(form === "q8" || form === "q4" ? { quantise: form } : {}) },
  unet: {
    ...(weights === "fold" ? { evenSides: true } : {}),
    ...(form === "int8" ? { int8: true } : form ? { quantise: form } : {}),
  },
  vae: { ...(form === "int8" ? { int8: true } : {}) },
};
const filterBlock = weights === "fold" ? await findFilterBlock() : undefined;

/** As the engine does it (pipeline-model.ts, component-loader.ts, runtime-session.ts). */
async function createSession(build, bytes, changes) {
  const computedFile = nameScratchFile(bytes, tmpdir());
  const cpu = { target: "cpu", compute: "fp32", weights, computedFile };
  const chosen = { ...cpu, ...(filterBlock ? { filterBlock } : {}), ...changes };
  try {
    const graph = build(chosen);
    const beside = !needsComputedWeights(graph.work);
    const computing = startWeights(graph.work, beside ? Math.max(1, threads - 1) : threads);
    if (!beside) await computing.done;
    const session = await ort.InferenceSession.create(graph.proto, recommendedSessionOptions(graph, chosen, threads));
    await computing.finish();
    return session;
  } finally {
    removeComputedFiles(computedFile);
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
  { weights: "cast", ...FORMS.text },
);
const ids = new ort.Tensor("int32", new Int32Array(77).fill(320), [1, 77]);
const { hidden_state: states } = await text.run({ input_ids: ids });
const loadStart = performance.now();
const net = await createSession(
  (chosen) => buildUNet2DConditionModel(unet.config, unet.source, chosen),
  4 * gigabyte,
  FORMS.unet,
);
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
if (turns) {
  console.log("ready");
  for await (const _ of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await timed(() => net.run(feeds))));
  }
  process.exit(0);
}
const unetCall = await best(() => net.run(feeds));
const textCall = await best(() => text.run({ input_ids: ids }));
await text.release();
await net.release();
const decoder = await createSession(
  (chosen) => buildAutoencoderKLDecoder(vae.config, vae.source, chosen),
  gigabyte,
  FORMS.vae,
);
const vaeCall = await best(() => decoder.run({ latents: tensor([1, 4, 64, 64]) }), 2);
console.log(
  JSON.stringify({ loadUNet, ready, firstStep, unet: unetCall, text: textCall, vae: vaeCall, peakMb: peakMegabytes() }),
);
