/**
 * CLIPTextModel and CLIPTextModelWithProjection (transformers): ViT-L, OpenCLIP H and bigG, or any other size config.json names.
 * Reference: "Learning Transferable Visual Models From Natural Language Supervision", Radford et al. 2021.
 */
import {
  add,
  attention,
  type BuiltGraph,
  embedding,
  GraphBuilder,
  type GraphOptions,
  gelu,
  layerNorm,
  linear,
  quickGelu,
  reshape,
  type Value,
} from "@kit/onnx-graph";
import type { TensorSource } from "@kit/tensor-files";
import { ConfigReader } from "./read-config.js";

export interface CLIPTextConfig {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly heads: number;
  /** tokens of one chunk: 77 */
  readonly length: number;
  readonly activation: "quick_gelu" | "gelu" | "gelu_new";
  readonly layerNormEps: number;
  /** the pooled output is read at this token; undefined: at the highest id, as files from before 2023 mean it */
  readonly eosTokenId: number | undefined;
  /** size of the projected pooled output; undefined for models without a projection */
  readonly projection: number | undefined;
}

export function readCLIPTextConfig(json: Readonly<Record<string, unknown>>, origin: string): CLIPTextConfig {
  const config = new ConfigReader(json, origin);
  const hiddenSize = config.size("hidden_size", 512);
  const heads = config.size("num_attention_heads", 8);
  if (hiddenSize % heads !== 0) throw config.fail("num_attention_heads", `it must divide hidden_size (${hiddenSize})`);
  const architectures = json["architectures"];
  const projected = Array.isArray(architectures) && architectures.includes("CLIPTextModelWithProjection");
  const eos = config.integer("eos_token_id", 49407);
  return {
    vocabSize: config.size("vocab_size", 49408),
    hiddenSize,
    intermediateSize: config.size("intermediate_size", 2048),
    layers: config.size("num_hidden_layers", 12),
    heads,
    length: config.size("max_position_embeddings", 77),
    activation: config.oneOf("hidden_act", ["quick_gelu", "gelu", "gelu_new"], "quick_gelu"),
    layerNormEps: config.number("layer_norm_eps", 1e-5),
    eosTokenId: eos === WRONG_EOS ? undefined : eos,
    projection: projected ? config.size("projection_dim", 512) : undefined,
  };
}

/** Configs written before transformers 4.24 say 2 here whatever the tokenizer has; the model then looks for the highest id. */
const WRONG_EOS = 2;

export interface CLIPTextOutputs {
  /** layers left out at the end: 0 gives the last one's output, 1 the one before ("clip skip") */
  readonly skip?: number;
  /** apply the final layer norm to that hidden state: true for SD 1.x and 2.x, false for SDXL */
  readonly finalNorm?: boolean;
  /** also give "pooled": the (projected) state at the end-of-text token of the last layer */
  readonly pooled?: boolean;
}

/** Input "input_ids" int32 [B, length]; outputs "hidden_state" [B, length, hidden] and, if wanted, "pooled" [B, projection or hidden]. */
export function buildCLIPTextModel(
  config: CLIPTextConfig,
  source: TensorSource,
  options: GraphOptions,
  { skip = 0, finalNorm = true, pooled = false }: CLIPTextOutputs = {},
): BuiltGraph {
  if (!Number.isInteger(skip) || skip < 0 || skip >= config.layers) {
    throw new RangeError(`clip skip ${skip} is outside 0..${config.layers - 1}, the layers of this text encoder`);
  }
  const g = new GraphBuilder("text_encoder", source, options);
  const ids = g.input("input_ids", "int32", ["B", config.length]);
  const prefix = namePrefix(source);
  let hidden = embedTokens(g, ids, config, prefix);
  const bias = causalBias(g, config.length);
  let chosen = hidden;
  const needed = pooled ? config.layers : config.layers - skip;
  for (let layer = 0; layer < needed; layer++) {
    hidden = encoderLayer(g, hidden, bias, config, `${prefix}encoder.layers.${layer}`);
    g.tap(`encoder.layers.${layer}`, hidden, 3);
    if (layer === config.layers - skip - 1) chosen = hidden;
  }
  const norm = (x: Value): Value =>
    layerNorm(g, x, `${prefix}final_layer_norm`, config.hiddenSize, config.layerNormEps);
  g.output("hidden_state", finalNorm ? norm(chosen) : chosen, ["B", config.length, config.hiddenSize]);
  if (pooled) {
    const atEnd = pickEndToken(g, norm(hidden), ids, config);
    const { projection, hiddenSize } = config;
    const result = projection
      ? linear(g, atEnd, "text_projection", hiddenSize, projection, { rank: 2, bias: false })
      : atEnd;
    g.output("pooled", result, ["B", projection ?? hiddenSize]);
  }
  return g.build();
}

/** Checkpoints keep the net under "text_model."; some newer ones do without. */
function namePrefix(source: TensorSource): string {
  return source.get("embeddings.token_embedding.weight") ? "" : "text_model.";
}

function embedTokens(g: GraphBuilder, ids: Value, config: CLIPTextConfig, prefix: string): Value {
  const { vocabSize, hiddenSize, length } = config;
  const tokens = embedding(g, ids, `${prefix}embeddings.token_embedding`, vocabSize, hiddenSize);
  const positions = g.parameter(`${prefix}embeddings.position_embedding.weight`, [length, hiddenSize]);
  return g.tap("embeddings", add(g, tokens, positions), 3);
}

/** No token sees a later one. Half precision ends at 65504, so the mask stays well inside it. */
function causalBias(g: GraphBuilder, length: number): Value {
  const bias = new Float32Array(length * length);
  for (let row = 0; row < length; row++) bias.fill(-30_000, row * length + row + 1, (row + 1) * length);
  return g.constantFloats(bias, [1, 1, length, length]);
}

function encoderLayer(g: GraphBuilder, x: Value, bias: Value, config: CLIPTextConfig, name: string): Value {
  const { hiddenSize, heads, intermediateSize, layerNormEps } = config;
  const normed = layerNorm(g, x, `${name}.layer_norm1`, hiddenSize, layerNormEps);
  const project = (part: string): Value => linear(g, normed, `${name}.self_attn.${part}`, hiddenSize, hiddenSize);
  const mixed = attention(g, project("q_proj"), project("k_proj"), project("v_proj"), {
    heads,
    scale: (hiddenSize / heads) ** -0.5,
    bias,
  });
  const attended = add(g, x, linear(g, mixed, `${name}.self_attn.out_proj`, hiddenSize, hiddenSize));
  const second = layerNorm(g, attended, `${name}.layer_norm2`, hiddenSize, layerNormEps);
  const wide = activate(g, linear(g, second, `${name}.mlp.fc1`, hiddenSize, intermediateSize), config.activation);
  return add(g, attended, linear(g, wide, `${name}.mlp.fc2`, intermediateSize, hiddenSize));
}

function activate(g: GraphBuilder, x: Value, activation: CLIPTextConfig["activation"]): Value {
  if (activation === "quick_gelu") return quickGelu(g, x);
  return gelu(g, x, activation === "gelu" ? "none" : "tanh");
}

function pickEndToken(g: GraphBuilder, hidden: Value, ids: Value, config: CLIPTextConfig): Value {
  const marks =
    config.eosTokenId === undefined
      ? ids
      : g.cast(g.node("Equal", [ids, g.cast(g.constantInts([config.eosTokenId]), "int32")], {}, "bool"), "int32");
  const position = g.node("ArgMax", [marks], { axis: 1, keepdims: 1 }, "int64");
  return reshape(g, g.node("GatherND", [hidden, position], { batch_dims: 1 }), [-1, config.hiddenSize]);
}
