/**
 * Prompt weighting: `(word)` 1.1 times, `((word))` 1.21 times, `[word]` divided by 1.1, `(word:1.3)` exactly 1.3 times what is around it.
 * `\(`, `\)`, `\[`, `\]`, `\\` are the characters themselves. A bracket without a partner is an ordinary character:
 * a prompt is never refused for its brackets.
 */
import { InvalidInputError } from "../invalid-input-error.js";

const EMPHASIS = 1.1;

/** Beyond this an embedding is so far from anything the model has seen that the picture is noise: a slip of the keyboard. */
const MAX_WEIGHT = 10;

export interface WeightedText {
  readonly text: string;
  readonly weight: number;
}

interface Piece {
  text: string;
  weight: number;
}

const TOKENS = /\\[()[\]\\]|:\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*\)|[()[\]]|[^\\()[\]:]+|[\\:]/g;

export function parseWeights(prompt: string): WeightedText[] {
  const pieces: Piece[] = [];
  const open: { bracket: "(" | "["; from: number }[] = [];
  const scale = (from: number, factor: number) => {
    for (const piece of pieces.slice(from)) piece.weight *= factor;
  };
  for (const match of prompt.matchAll(TOKENS)) {
    const token = match[0];
    const last = open.at(-1);
    if (token === "(" || token === "[") {
      open.push({ bracket: token, from: pieces.length });
      pieces.push({ text: "", weight: 1 });
    } else if (match[1] !== undefined && last?.bracket === "(") {
      scale(last.from, checkWeight(Number(match[1]), token));
      open.pop();
    } else if (token === ")" && last?.bracket === "(") {
      scale(last.from, EMPHASIS);
      open.pop();
    } else if (token === "]" && last?.bracket === "[") {
      scale(last.from, 1 / EMPHASIS);
      open.pop();
    } else {
      pieces.push({ text: token.length === 2 && token[0] === "\\" ? token[1]! : token, weight: 1 });
    }
  }
  // an opening bracket that was never closed is itself part of the text
  for (const { bracket, from } of open) pieces[from]!.text = bracket;
  return mergeEqualWeights(pieces);
}

function checkWeight(weight: number, token: string): number {
  if (Math.abs(weight) > MAX_WEIGHT) {
    throw new InvalidInputError(
      `prompt: weight ${token.slice(1, -1).trim()} is outside -${MAX_WEIGHT} to ${MAX_WEIGHT}`,
    );
  }
  return weight;
}

/** Neighbours of equal weight become one text, so that words split by an escape are tokenised as one. */
function mergeEqualWeights(pieces: readonly Piece[]): WeightedText[] {
  const merged: Piece[] = [];
  for (const { text, weight } of pieces) {
    if (text === "") continue;
    const last = merged.at(-1);
    if (last && Math.abs(last.weight - weight) < 1e-9) last.text += text;
    else merged.push({ text, weight });
  }
  return merged;
}
