/** Text to what the UNet attends to: chunks encoded, weighted, laid side by side, the encoders of SDXL joined feature by feature. */
import { applyWeights, hasWeights } from "../prompts/apply-weights.js";
import { chunkPrompt, createChunk, type PromptChunk } from "../prompts/chunk-tokens.js";
import type { DiffusionModel, TextEncoderPart } from "./diffusion-model.js";
import { type FloatTensor, floats, pickOutput, type Session } from "./session.js";

export interface EncodedPrompt {
  /** [1, tokens, features] */
  readonly hidden: FloatTensor;
  /** [1, pooled features], only for models with text_time conditioning */
  readonly pooled: FloatTensor | undefined;
}

export interface EncodedPrompts {
  readonly positive: EncodedPrompt;
  /** undefined when guidance needs none */
  readonly negative: EncodedPrompt | undefined;
  readonly warnings: readonly string[];
}

interface EncodedChunks {
  readonly hidden: Float32Array;
  readonly pooled: Float32Array | undefined;
}

export async function encodePrompts(
  model: DiffusionModel,
  prompt: string,
  negativePrompt: string,
  needsNegative: boolean,
): Promise<EncodedPrompts> {
  const warnings: string[] = [];
  const chunked = model.textEncoders.map((encoder) => ({
    positive: chunkPrompt(prompt, encoder.tokenizer),
    negative: chunkPrompt(needsNegative ? negativePrompt : "", encoder.tokenizer),
  }));
  for (const [name, { tokensCut }] of Object.entries(chunked[0]!)) {
    if (tokensCut > 0) warnings.push(`the ${name} prompt is too long: its last ${tokensCut} tokens were left out`);
  }
  // both sides get equally many chunks, the shorter one empty ones: they share one batch, and every backend sees the same
  const count = Math.max(
    ...chunked.flatMap(({ positive, negative }) => [positive.chunks.length, negative.chunks.length]),
  );
  const encodeSide = async (side: "positive" | "negative") => {
    const parts: EncodedChunks[] = [];
    for (const [i, encoder] of model.textEncoders.entries()) {
      parts.push(await encodeChunks(encoder, fillUp(chunked[i]![side].chunks, count, encoder)));
    }
    return joinEncoders(model.textEncoders, parts);
  };
  const positive = await encodeSide("positive");
  if (!needsNegative) return { positive, negative: undefined, warnings };
  const zeros = model.zerosForEmptyPrompt && negativePrompt.trim() === "";
  return { positive, negative: zeros ? blank(positive) : await encodeSide("negative"), warnings };
}

function fillUp(chunks: readonly PromptChunk[], count: number, encoder: TextEncoderPart): readonly PromptChunk[] {
  const empty = createChunk([], [], encoder.tokenizer);
  return [...chunks, ...Array.from({ length: count - chunks.length }, () => empty)];
}

async function encodeChunks(encoder: TextEncoderPart, chunks: readonly PromptChunk[]): Promise<EncodedChunks> {
  const session = await encoder.open();
  const length = encoder.tokenizer.maxLength * encoder.hiddenSize;
  const hidden = new Float32Array(chunks.length * length);
  let empty: Float32Array | undefined;
  let pooled: Float32Array | undefined;
  for (const [i, chunk] of chunks.entries()) {
    const outputs = await runEncoder(session, chunk);
    let encoded = pickOutput(outputs, "hidden_state").data;
    if (encoder.pooledSize !== undefined) pooled ??= pickOutput(outputs, "pooled").data;
    if (hasWeights(chunk.weights)) {
      empty ??= pickOutput(await runEncoder(session, createChunk([], [], encoder.tokenizer)), "hidden_state").data;
      encoded = applyWeights(encoded, empty, chunk.weights);
    }
    hidden.set(encoded, i * length);
  }
  return { hidden, pooled };
}

function runEncoder(session: Session, chunk: PromptChunk): Promise<Readonly<Record<string, FloatTensor>>> {
  return session.run({ input_ids: { type: "int32", dims: [1, chunk.ids.length], data: chunk.ids } });
}

function joinEncoders(encoders: readonly TextEncoderPart[], parts: readonly EncodedChunks[]): EncodedPrompt {
  const tokens = parts[0]!.hidden.length / encoders[0]!.hiddenSize;
  const width = encoders.reduce((sum, encoder) => sum + encoder.hiddenSize, 0);
  const hidden = new Float32Array(tokens * width);
  let offset = 0;
  for (const [i, { hiddenSize }] of encoders.entries()) {
    for (let token = 0; token < tokens; token++) {
      const row = parts[i]!.hidden.subarray(token * hiddenSize, (token + 1) * hiddenSize);
      hidden.set(row, token * width + offset);
    }
    offset += hiddenSize;
  }
  const pooled = parts.find((part) => part.pooled)?.pooled;
  return {
    hidden: floats([1, tokens, width], hidden),
    pooled: pooled && floats([1, pooled.length], pooled),
  };
}

function blank({ hidden, pooled }: EncodedPrompt): EncodedPrompt {
  return {
    hidden: floats(hidden.dims, new Float32Array(hidden.data.length)),
    pooled: pooled && floats(pooled.dims, new Float32Array(pooled.data.length)),
  };
}
