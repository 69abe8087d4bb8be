import { describe, expect, it } from "vitest";
import { cleanAnswer, limitWords } from "./clean-answer.js";

describe("cleanAnswer", () => {
  it.each([
    ['"a red fox in the snow"', "a red fox in the snow"],
    ["“a red fox in the snow”", "a red fox in the snow"],
    ["Here is the expanded prompt:\n\na red fox in the snow", "a red fox in the snow"],
    ["Sure! Here's a richer version: a red fox in the snow", "a red fox in the snow"],
    ["Sure, a red fox in the snow", "a red fox in the snow"],
    ["**Prompt:** a red fox in the snow", "a red fox in the snow"],
    ["Expanded prompt: “a red fox in the snow”", "a red fox in the snow"],
    ["<think>the user wants\na fox</think>\na red fox in the snow", "a red fox in the snow"],
    ["<think>the user wants a fox", ""],
    ["1. a red fox in the snow\n2. a red fox at night", "a red fox in the snow"],
    ["- a red fox in the snow\n- another", "a red fox in the snow"],
    ["```\na red fox in the snow\n```", "a red fox in the snow"],
    ["# Answer\na red fox in the snow", "a red fox in the snow"],
    ["a red fox , in the snow ,, at night,", "a red fox, in the snow, at night"],
    ['"a red fox in the snow, with trees" - I added trees.', "a red fox in the snow, with trees"],
    ["a sign that says: open", "a sign that says: open"],
    ["a red fox<|end|>", "a red fox"],
    ["***", ""],
    ["", ""],
  ])("%j → %j", (raw, meant) => {
    expect(cleanAnswer(raw)).toBe(meant);
  });
});

describe("limitWords", () => {
  it("leaves short texts alone", () => expect(limitWords("a red fox", 3)).toBe("a red fox"));
  it("cuts at the last comma of the second half", () =>
    expect(limitWords("a red fox in the snow, at night, under stars", 8)).toBe("a red fox in the snow, at night"));
  it("cuts between words where there is no comma", () =>
    expect(limitWords("one two three four five", 3)).toBe("one two three"));
});
