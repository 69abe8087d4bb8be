/**
 * A prompt as chunks of the text encoder's length: start, up to 75 tokens, end, padding. Longer prompts get several chunks, encoded
 * one by one and laid side by side; the UNet's attention does not mind the length.
 */
import type { ClipTokenizer } from "../tokenizers/clip-tokenizer.js";
import { parseWeights } from "./parse-weights.js";

/** 16 chunks are 1,200 tokens, several pages: more only costs memory and time in every attention layer. */
export const MAX_CHUNKS = 16;

export interface PromptChunk {
  readonly ids: Int32Array;
  /** one weight per id; 1 for the special ones */
  readonly weights: Float32Array;
}

export interface ChunkedPrompt {
  readonly chunks: readonly PromptChunk[];
  /** tokens that did not fit into MAX_CHUNKS */
  readonly tokensCut: number;
}

export function chunkPrompt(prompt: string, tokenizer: ClipTokenizer): ChunkedPrompt {
  const ids: number[] = [];
  const weights: number[] = [];
  for (const part of parseWeights(prompt)) {
    for (const id of tokenizer.encodeText(part.text)) {
      ids.push(id);
      weights.push(part.weight);
    }
  }
  const room = tokenizer.maxLength - 2;
  const kept = Math.min(ids.length, room * MAX_CHUNKS);
  const chunks: PromptChunk[] = [];
  for (let from = 0; from === 0 || from < kept; from += room) {
    chunks.push(createChunk(ids.slice(from, Math.min(from + room, kept)), weights.slice(from, from + room), tokenizer));
  }
  return { chunks, tokensCut: ids.length - kept };
}

export function createChunk(ids: readonly number[], weights: readonly number[], tokenizer: ClipTokenizer): PromptChunk {
  const chunk = {
    ids: new Int32Array(tokenizer.maxLength).fill(tokenizer.padToken),
    weights: new Float32Array(tokenizer.maxLength).fill(1),
  };
  chunk.ids[0] = tokenizer.startToken;
  chunk.ids.set(ids, 1);
  chunk.ids[ids.length + 1] = tokenizer.endToken;
  chunk.weights.set(weights.slice(0, ids.length), 1);
  return chunk;
}
