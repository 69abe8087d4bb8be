/** Our graphs in onnxruntime against what PyTorch computed with the same tiny checkpoints (tools/golden/record_models.py). */
import { existsSync } from "node:fs";
import path from "node:path";
import { type BuiltGraph, type GraphOptions, recommendedSessionOptions } from "@kit/onnx-graph";
import { openSafetensors, readTensorFloats, type TensorFile } from "@kit/tensor-files";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { buildAutoencoderKLDecoder, buildAutoencoderKLEncoder } from "./autoencoder-kl.js";
import { buildAutoencoderTinyDecoder, buildAutoencoderTinyEncoder } from "./autoencoder-tiny.js";
import type { AutoencoderConfig, Component } from "./checkpoint.js";
import {
  buildCLIPTextModel,
  type CLIPTextConfig,
  type CLIPTextOutputs,
  readCLIPTextConfig,
} from "./clip-text-model.js";
import { openComponentWeights, readJsonFile } from "./component-files.js";
import { openAutoencoder, openCheckpoint } from "./open-checkpoint.js";
import { buildUNet2DConditionModel, readUNetConfig, type UNetConfig } from "./unet-2d-condition-model.js";

const FIXTURES = path.join(import.meta.dirname, "../../fixtures/models");
/** Largest difference allowed, as a part of the largest recorded number. */
const TOLERANCE = 2e-4;
const THREADS = 2;

/** The way the engine runs nets on a CPU, and the same with every block looked at. */
const FOLD: GraphOptions = { target: "cpu", compute: "fp32", weights: "fold" };
const TAPPED: GraphOptions = { ...FOLD, taps: "all" };

type Outputs = Readonly<Record<string, Float32Array>>;

async function runGraph(graph: BuiltGraph, options: GraphOptions, feeds: Record<string, Tensor>): Promise<Outputs> {
  const session = await InferenceSession.create(graph.proto, recommendedSessionOptions(graph, options, THREADS));
  try {
    const results = await session.run(feeds);
    const pairs = Object.entries(results).map(([name, tensor]) => [name, tensor.data as Float32Array] as const);
    return Object.fromEntries(pairs);
  } finally {
    await session.release();
  }
}

/** The recorded inputs of one component: tensors named `<component>.in.<input>`. */
function feedsOf(golden: TensorFile, component: string, names?: readonly string[]): Record<string, Tensor> {
  const prefix = `${component}.in.`;
  const feeds: Record<string, Tensor> = {};
  for (const full of golden.names()) {
    const name = full.startsWith(prefix) ? full.slice(prefix.length) : undefined;
    const recorded = golden.get(full);
    if (name === undefined || recorded === undefined || (names && !names.includes(name))) continue;
    const floats = readTensorFloats(recorded);
    feeds[name] =
      recorded.dtype === "I32"
        ? new Tensor("int32", Int32Array.from(floats), recorded.shape)
        : new Tensor("float32", floats, recorded.shape);
  }
  return feeds;
}

function relativeError(found: Float32Array | undefined, golden: TensorFile, name: string): number {
  const recorded = golden.get(name);
  if (found === undefined || recorded === undefined) throw new Error(`no value to compare for ${name}`);
  const wanted = readTensorFloats(recorded);
  expect(found.length, name).toBe(wanted.length);
  let error = 0;
  let scale = 0;
  for (let i = 0; i < wanted.length; i++) {
    error = Math.max(error, Math.abs(found[i]! - wanted[i]!));
    scale = Math.max(scale, Math.abs(wanted[i]!));
  }
  return error / scale;
}

/** Compares every recorded output and inner block that the graph gives; at least `least` of them. */
function expectEqual(
  outputs: Outputs,
  golden: TensorFile,
  component: string,
  least: number,
  tolerance = TOLERANCE,
): void {
  let compared = 0;
  for (const name of golden.names()) {
    const [, key] = new RegExp(`^${component}\\.(?:out|tap)\\.(.+)$`).exec(name) ?? [];
    if (key === undefined || outputs[key] === undefined) continue;
    expect(relativeError(outputs[key], golden, name), name).toBeLessThan(tolerance);
    compared++;
  }
  expect(compared).toBeGreaterThanOrEqual(least);
}

const openGolden = (name: string): Promise<TensorFile> => openSafetensors(path.join(FIXTURES, name));

async function openPart<Config>(
  folder: string,
  read: (json: Readonly<Record<string, unknown>>, origin: string) => Config,
): Promise<Component<Config>> {
  const json = (await readJsonFile(path.join(FIXTURES, folder, "config.json"))) ?? {};
  return { config: read(json, folder), source: await openComponentWeights(path.join(FIXTURES, folder), "fp16") };
}

async function checkUNet(unet: Component<UNetConfig>, golden: TensorFile): Promise<void> {
  for (const options of [TAPPED, FOLD]) {
    const graph = buildUNet2DConditionModel(unet.config, unet.source, options);
    const outputs = await runGraph(graph, options, feedsOf(golden, "unet"));
    expectEqual(outputs, golden, "unet", options.taps ? 6 : 1);
  }
}

async function checkAutoencoder({ config, source }: Component<AutoencoderConfig>, golden: TensorFile): Promise<void> {
  for (const options of [TAPPED, FOLD]) {
    const [encoder, decoder] =
      config.kind === "kl"
        ? [buildAutoencoderKLEncoder(config, source, options), buildAutoencoderKLDecoder(config, source, options)]
        : [buildAutoencoderTinyEncoder(config, source, options), buildAutoencoderTinyDecoder(config, source, options)];
    const blocks = options.taps && config.kind === "kl" ? 3 : 0;
    const encoded = await runGraph(encoder, options, feedsOf(golden, "vae", ["sample"]));
    expectEqual(encoded, golden, "vae", 1 + blocks);
    const decoded = await runGraph(decoder, options, feedsOf(golden, "vae", ["latents"]));
    expectEqual(decoded, golden, "vae", 1 + blocks);
  }
}

async function runText(
  text: Component<CLIPTextConfig>,
  golden: TensorFile,
  name: string,
  wanted: CLIPTextOutputs,
): Promise<Outputs> {
  const graph = buildCLIPTextModel(text.config, text.source, FOLD, wanted);
  return runGraph(graph, FOLD, feedsOf(golden, name));
}

async function checkText(text: Component<CLIPTextConfig>, golden: TensorFile, name: string): Promise<void> {
  const last = await runText(text, golden, name, { pooled: true });
  expectEqual(last, golden, name, 2);
  // states counted from the embeddings: one fewer layer is the state before the last
  const before = `${name}.hidden.${text.config.layers - 1}`;
  const skipped = await runText(text, golden, name, { skip: 1, finalNorm: false });
  expect(relativeError(skipped["hidden_state"], golden, before), before).toBeLessThan(TOLERANCE);
}

describe.each(["sd1", "sd2", "sdxl"])("%s, a folder in diffusers layout", (name) => {
  it("computes what PyTorch computes, block by block", async () => {
    const checkpoint = await openCheckpoint(path.join(FIXTURES, name));
    const golden = await openGolden(`${name}/golden.safetensors`);
    expect(checkpoint.kind).toBe(name === "sdxl" ? "sdxl" : "sd");
    await checkUNet(checkpoint.unet, golden);
    await checkAutoencoder(checkpoint.vae, golden);
    await checkText(checkpoint.textEncoder!, golden, "text_encoder");
    if (checkpoint.textEncoder2) await checkText(checkpoint.textEncoder2, golden, "text_encoder_2");
    expect(checkpoint.textEncoder2 !== undefined).toBe(name === "sdxl");
  });
});

describe.each(["sd1", "sd2", "sdxl"])("%s, one file with the original names", (name) => {
  it("is recognised, and computes what PyTorch computes", async () => {
    const checkpoint = await openCheckpoint(path.join(FIXTURES, `${name}.safetensors`), { normGroups: 4 });
    const golden = await openGolden(`${name}/golden.safetensors`);
    expect(checkpoint.kind).toBe(name === "sdxl" ? "sdxl" : "sd");
    expect(checkpoint.schedulerConfig["prediction_type"]).toBe(name === "sd2" ? "v_prediction" : "epsilon");
    await checkUNet(checkpoint.unet, golden);
    await checkAutoencoder(checkpoint.vae, golden);
    await checkText(checkpoint.textEncoder!, golden, "text_encoder");
    if (checkpoint.textEncoder2) await checkText(checkpoint.textEncoder2, golden, "text_encoder_2");
  });
});

describe("variants of the architectures", () => {
  it("UNet: nine channels, scale-shift norms, text-only attention, nested depths", async () => {
    await checkUNet(await openPart("inpaint/unet", readUNetConfig), await openGolden("inpaint/golden.safetensors"));
  });

  it("UNet: guidance embedding, plain middle, odd sizes", async () => {
    await checkUNet(await openPart("lcm/unet", readUNetConfig), await openGolden("lcm/golden.safetensors"));
  });

  it("AutoencoderKL without quantisation convolutions and middle attention", async () => {
    await checkAutoencoder(
      await openAutoencoder(path.join(FIXTURES, "lcm/vae")),
      await openGolden("lcm/golden.safetensors"),
    );
  });

  it("CLIP with several heads", async () => {
    const text = await openPart("lcm/text_encoder", readCLIPTextConfig);
    await checkText(text, await openGolden("lcm/golden.safetensors"), "text_encoder");
  });

  it("AutoencoderTiny", async () => {
    const vae = await openAutoencoder(path.join(FIXTURES, "tiny-vae"));
    expect(vae.config.kind).toBe("tiny");
    await checkAutoencoder(vae, await openGolden("tiny-vae/golden.safetensors"));
  });
});

describe("ways to run the same net", () => {
  const options: [string, GraphOptions][] = [
    ["weights converted in each call", { ...TAPPED, weights: "cast" }],
    ["the operators every provider has", { ...TAPPED, target: "webgpu" }],
  ];
  it.each(options)("%s", async (_what, variant) => {
    const checkpoint = await openCheckpoint(path.join(FIXTURES, "sdxl"));
    const golden = await openGolden("sdxl/golden.safetensors");
    const graph = buildUNet2DConditionModel(checkpoint.unet.config, checkpoint.unet.source, variant);
    // the graph is another target's, the session this machine's
    const outputs = await runGraph(graph, { ...variant, target: "cpu" }, feedsOf(golden, "unet"));
    expectEqual(outputs, golden, "unet", 6);
  });

  it.each([
    ["q8", 0.03],
    ["q4", 0.3],
  ] as const)("linear layers in %s blocks", async (quantise, tolerance) => {
    const checkpoint = await openCheckpoint(path.join(FIXTURES, "sd1"));
    const golden = await openGolden("sd1/golden.safetensors");
    const variant: GraphOptions = { ...TAPPED, quantise };
    const graph = buildUNet2DConditionModel(checkpoint.unet.config, checkpoint.unet.source, variant);
    const outputs = await runGraph(graph, variant, feedsOf(golden, "unet"));
    expectEqual(outputs, golden, "unet", 6, tolerance);
  });

  it("GGUF with Q8_0 linears, straight from the file", async () => {
    const checkpoint = await openCheckpoint(path.join(FIXTURES, "sd1-q8_0.gguf"), { normGroups: 4 });
    const inputs = await openGolden("sd1/golden.safetensors");
    const golden = await openGolden("sd1-q8_0.golden.safetensors");
    // float activations: only the file's own rounding remains, and PyTorch did the same
    const exact: GraphOptions = { target: "webgpu", compute: "fp32", weights: "fold" };
    const graph = buildUNet2DConditionModel(checkpoint.unet.config, checkpoint.unet.source, exact);
    const outputs = await runGraph(graph, { ...exact, target: "cpu" }, feedsOf(inputs, "unet"));
    expectEqual(outputs, golden, "unet", 1);
  });
});

const TRAINED = [
  path.join(import.meta.dirname, "../../../../models/doodle"),
  path.join(import.meta.dirname, "../../../../../shared/embedded-model/first-run"),
].find((folder) => existsSync(path.join(folder, "golden.safetensors")));

describe.skipIf(TRAINED === undefined)("a trained checkpoint (skipped where its folder is absent)", () => {
  it("gives the recorded embeddings, noise, picture and latents", async () => {
    const folder = TRAINED!;
    const checkpoint = await openCheckpoint(folder);
    const golden = await openSafetensors(path.join(folder, "golden.safetensors"));
    const floats = (name: string): Float32Array => readTensorFloats(golden.get(name)!);
    const tensorOf = (name: string): Tensor => new Tensor("float32", floats(name), golden.get(name)!.shape);
    const plain: GraphOptions = { target: "cpu", compute: "fp32", weights: "fold" };

    const text = buildCLIPTextModel(checkpoint.textEncoder!.config, checkpoint.textEncoder!.source, plain);
    const ids = golden.get("input_ids")!;
    const inputIds = new Tensor("int32", Int32Array.from(floats("input_ids")), ids.shape);
    const states = (await runGraph(text, plain, { input_ids: inputIds }))["hidden_state"]!;
    expect(relativeError(states, golden, "text_embeds")).toBeLessThan(TOLERANCE);

    const unet = buildUNet2DConditionModel(checkpoint.unet.config, checkpoint.unet.source, plain);
    const width = checkpoint.unet.config.crossAttentionDim;
    const tokens = ids.shape[1]!;
    const first = new Tensor("float32", states.slice(0, tokens * width), [1, tokens, width]);
    for (const [name, timestep] of [
      ["unet_out_cond", floats("timestep")[0]!],
      ["unet_out_501", 501],
    ] as const) {
      const outputs = await runGraph(unet, plain, {
        sample: tensorOf("latents"),
        timestep: new Tensor("float32", Float32Array.of(timestep), [1]),
        encoder_hidden_states: first,
      });
      expect(relativeError(outputs["out_sample"], golden, name), name).toBeLessThan(TOLERANCE);
    }

    const { config, source } = checkpoint.vae as Component<Extract<AutoencoderConfig, { kind: "kl" }>>;
    const decoder = buildAutoencoderKLDecoder(config, source, plain);
    const decoded = await runGraph(decoder, plain, { latents: tensorOf("ddim10_latents") });
    expect(relativeError(decoded["sample"], golden, "ddim10_image")).toBeLessThan(TOLERANCE);

    const encoder = buildAutoencoderKLEncoder(config, source, plain);
    const clamped = floats("ddim10_image").map((x) => Math.min(1, Math.max(-1, x)));
    const sample = new Tensor("float32", clamped, golden.get("ddim10_image")!.shape);
    const encoded = await runGraph(encoder, plain, { sample });
    expect(relativeError(encoded["mean"], golden, "vae_mean")).toBeLessThan(TOLERANCE);
  });
});
