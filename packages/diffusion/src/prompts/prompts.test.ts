import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openClipTokenizer } from "../tokenizers/index.js";
import { applyWeights } from "./apply-weights.js";
import { chunkPrompt, MAX_CHUNKS } from "./chunk-tokens.js";
import { parseWeights } from "./parse-weights.js";

const parsed = (prompt: string) => parseWeights(prompt).map(({ text, weight }) => [text, Number(weight.toFixed(6))]);

describe("prompt weights", () => {
  it.each([
    ["a plain prompt", [["a plain prompt", 1]]],
    [
      "a (red) cat",
      [
        ["a ", 1],
        ["red", 1.1],
        [" cat", 1],
      ],
    ],
    [
      "a ((red)) cat",
      [
        ["a ", 1],
        ["red", 1.21],
        [" cat", 1],
      ],
    ],
    [
      "a (red:1.5) cat",
      [
        ["a ", 1],
        ["red", 1.5],
        [" cat", 1],
      ],
    ],
    [
      "[dark] sky",
      [
        ["dark", 0.909091],
        [" sky", 1],
      ],
    ],
    [
      "(a (red:2) cat:0.5)",
      [
        ["a ", 0.5],
        ["red", 1],
        [" cat", 0.5],
      ],
    ],
    ["(soft : .5 )", [["soft ", 0.5]]],
    [
      "time 10:30 (now)",
      [
        ["time 10:30 ", 1],
        ["now", 1.1],
      ],
    ],
    ["\\(not weighted\\) \\[x\\] \\\\", [["(not weighted) [x] \\", 1]]],
    ["unclosed (bracket", [["unclosed (bracket", 1]]],
    ["stray ) and ] here", [["stray ) and ] here", 1]]],
    [
      "mixed (a [b) c]",
      [
        ["mixed (a ", 1],
        ["b) c", 0.909091],
      ],
    ],
    ["(off:0)", [["off", 0]]],
    ["(away:-1)", [["away", -1]]],
    [
      ":) (: :1.2)",
      [
        [":) ", 1],
        [": ", 1.2],
      ],
    ],
    ["", []],
    ["()", []],
  ])("%s", (prompt, expected) => {
    expect(parsed(prompt)).toEqual(expected);
  });

  it("refuses weights that can only be slips", () => {
    expect(() => parseWeights("(cat:100)")).toThrow("weight 100 is outside -10 to 10");
  });

  it("loses no text and never fails on brackets", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("(", ")", "[", "]", "a", " ", "\\", ":"), maxLength: 40 }),
        (prompt) => {
          const text = parseWeights(prompt)
            .map((piece) => piece.text)
            .join("");
          expect(text.replace(/[^a]/g, "")).toBe(prompt.replace(/[^a]/g, ""));
        },
      ),
    );
  });
});

describe("prompt chunks", async () => {
  const tokenizer = await openClipTokenizer(
    fileURLToPath(new URL("../../fixtures/tokenizers/tiny-clip", import.meta.url)),
  );

  it("wraps a short prompt into one padded chunk with its weights", () => {
    const { chunks, tokensCut } = chunkPrompt("a (cat:1.3)", tokenizer);
    expect(tokensCut).toBe(0);
    expect(chunks).toHaveLength(1);
    const { ids, weights } = chunks[0]!;
    const [a, cat] = [tokenizer.encodeText("a"), tokenizer.encodeText("cat")];
    expect([...ids.slice(0, a.length + cat.length + 2)]).toEqual([
      tokenizer.startToken,
      ...a,
      ...cat,
      tokenizer.endToken,
    ]);
    expect([...ids.slice(a.length + cat.length + 2)].every((id) => id === tokenizer.padToken)).toBe(true);
    expect(weights[0]).toBe(1);
    expect(weights[1 + a.length]).toBeCloseTo(1.3);
  });

  it("splits at 75 tokens, and an empty prompt is one chunk", () => {
    expect(chunkPrompt("", tokenizer).chunks).toHaveLength(1);
    expect(chunkPrompt(Array(75).fill("a").join(" "), tokenizer).chunks).toHaveLength(1);
    const { chunks } = chunkPrompt(Array(76).fill("a").join(" "), tokenizer);
    expect(chunks).toHaveLength(2);
    expect(chunks[0]!.ids[76]).toBe(tokenizer.endToken);
    expect(chunks[1]!.ids[2]).toBe(tokenizer.endToken);
  });

  it("cuts absurd lengths and says how much", () => {
    const { chunks, tokensCut } = chunkPrompt(
      Array(75 * MAX_CHUNKS + 7)
        .fill("a")
        .join(" "),
      tokenizer,
    );
    expect(chunks).toHaveLength(MAX_CHUNKS);
    expect(tokensCut).toBe(7);
  });
});

describe("weights on embeddings", () => {
  it("moves along the line from the empty prompt", () => {
    const encoded = Float32Array.from([1, 2, 3, 4]);
    const empty = Float32Array.from([1, 1, 1, 1]);
    expect([...applyWeights(encoded, empty, Float32Array.from([1, 2]))]).toEqual([1, 2, 5, 7]);
    expect([...applyWeights(encoded, empty, Float32Array.from([0, 0.5]))]).toEqual([1, 1, 2, 2.5]);
  });
});
