/**
 * One measurement of our engine's nets on one backend, in a process of its own:
 *
 *   node measure-gpu.mjs FOLDER cpu|webgpu|cuda fp32|fp16 OUT [--profile]
 *
 * Prints one line of JSON and writes what the UNet and the VAE gave to OUT, so that backends can be compared.
 * With --profile ONNX Runtime's own times per kind of operator follow from one UNet call.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import ort from "onnxruntime-node";
import {
  buildAutoencoderKLDecoder,
  buildCLIPTextModel,
  buildUNet2DConditionModel,
  openCheckpoint,
} from "../../packages/diffusion/dist/models/index.js";
import { recommendedSessionOptions } from "../../packages/onnx-graph/dist/index.js";

const [folder, target, compute, out, flag] = process.argv.slice(2);
const CALLS = target === "cpu" ? 2 : 5;
const options = { target, compute, weights: "fold" };
mkdirSync(out, { recursive: true });

async function createSession(build, extra = {}) {
  const graph = build(options);
  const wanted = recommendedSessionOptions(graph, options, os.availableParallelism());
  return ort.InferenceSession.create(graph.proto, { ...wanted, logSeverityLevel: 3, ...extra });
}

const seconds = (since) => (performance.now() - since) / 1000;

async function timed(call) {
  const start = performance.now();
  const value = await call();
  return { seconds: seconds(start), value };
}

/** The first call (kernels are compiled or chosen in it) and the best of the following ones. */
async function measure(call) {
  const { seconds: first, value } = await timed(call);
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < CALLS; i++) best = Math.min(best, (await timed(call)).seconds);
  return { result: { first, best }, value };
}

function gpuMegabytes() {
  if (target === "cpu") return undefined;
  try {
    const query = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];
    return Number(execFileSync("nvidia-smi", query, { timeout: 10_000 }).toString().split("\n")[0]);
  } catch {
    return undefined;
  }
}

const noise = (count) => Float32Array.from({ length: count }, (_, i) => Math.sin(i * 12.9898 + 78.233) * 1.4);
const tensor = (shape) => new ort.Tensor("float32", noise(shape.reduce((a, b) => a * b, 1)), shape);

/** Time per operator and provider out of a profile that ONNX Runtime wrote. */
function sumProfile(file) {
  const sums = new Map();
  for (const event of JSON.parse(readFileSync(file, "utf8"))) {
    if (event.cat !== "Node" && event.cat !== "Kernel") continue;
    const { op_name: op, provider } = event.args ?? {};
    const key = `${event.cat} ${provider ?? ""} ${op ?? event.name.replace(/[_&]?\d+.*/, "")}`;
    const entry = sums.get(key) ?? { calls: 0, ms: 0 };
    entry.calls += 1;
    entry.ms += event.dur / 1000;
    sums.set(key, entry);
  }
  return [...sums]
    .sort((a, b) => b[1].ms - a[1].ms)
    .slice(0, 40)
    .map(([key, { calls, ms }]) => ({ key, calls, ms }));
}

const { textEncoder, unet, vae } = await openCheckpoint(folder);
const buildUnet = (chosen) => buildUNet2DConditionModel(unet.config, unet.source, chosen);
const ids = new ort.Tensor("int32", new Int32Array(77).fill(320), [1, 77]);
const feeds = (batch, states) => ({
  sample: tensor([batch, 4, 64, 64]),
  timestep: new ort.Tensor("float32", Float32Array.of(501), [1]),
  encoder_hidden_states: states,
});

async function measureNets() {
  const before = gpuMegabytes();
  const text = await createSession((chosen) => buildCLIPTextModel(textEncoder.config, textEncoder.source, chosen));
  const { result: textCall, value } = await measure(() => text.run({ input_ids: ids }));
  await text.release();
  const states = value.hidden_state;
  const { seconds: load, value: net } = await timed(() => createSession(buildUnet));
  const one = await measure(() => net.run(feeds(1, states)));
  const twice = new ort.Tensor("float32", Float32Array.of(...states.data, ...states.data), [
    2,
    ...states.dims.slice(1),
  ]);
  const two = target === "cpu" ? undefined : (await measure(() => net.run(feeds(2, twice)))).result;
  const after = gpuMegabytes();
  await net.release();
  const decoder = await createSession((chosen) => buildAutoencoderKLDecoder(vae.config, vae.source, chosen));
  const decoded = await measure(() => decoder.run({ latents: tensor([1, 4, 64, 64]) }));
  await decoder.release();
  writeFileSync(path.join(out, "text.f32"), new Uint8Array(states.data.buffer));
  writeFileSync(path.join(out, "unet.f32"), new Uint8Array(one.value.out_sample.data.buffer));
  writeFileSync(path.join(out, "vae.f32"), new Uint8Array(Object.values(decoded.value)[0].data.buffer));
  const gpuMb = before === undefined || after === undefined ? undefined : after - before;
  return { load, text: textCall, unet: one.result, unet2: two, vae: decoded.result, gpuMb };
}

async function profileUnet() {
  const prefix = path.join(out, "profile");
  const net = await createSession(buildUnet, { enableProfiling: true, profileFilePrefix: prefix });
  const states = tensor([1, 77, unet.config.crossAttentionDim]);
  await net.run(feeds(1, states));
  const { seconds: wall } = await timed(() => net.run(feeds(1, states)));
  net.endProfiling();
  await net.release();
  const file = path.join(
    out,
    readdirSync(out).find((name) => name.startsWith("profile")),
  );
  const operators = sumProfile(file);
  rmSync(file);
  return { wall, note: "two calls, the first one with compilation", operators };
}

const result = flag === "--profile" ? await profileUnet() : await measureNets();
console.log(JSON.stringify(result));
