import { describe, expect, it } from "vitest";
import { stayInWorld } from "./doodle-world.js";
import { mixSeed } from "./mix-seed.js";
import { missingWords, restoreCase, subjectWords, withoutAsking } from "./subject-words.js";

describe("the subject's words", () => {
  it("are the words that carry meaning", () =>
    expect(subjectWords("Please draw me a picture of the red fox")).toEqual(["red", "fox"]));
  it("are all words when none carries meaning", () => expect(subjectWords("a photo")).toEqual(["a", "photo"]));
  it("know other scripts and pictures", () => expect(subjectWords("黒い猫 café 🚀")).toEqual(["黒い猫", "café", "🚀"]));
  it("are missed by word, not by letters", () =>
    expect(missingWords("a cat", "a caterpillar on a leaf")).toEqual(["cat"]));
  it("keep the user's spelling", () =>
    expect(restoreCase("the Eiffel Tower", "an eiffel tower at night")).toBe("an Eiffel Tower at night"));
});

describe("asking", () => {
  it.each([
    ["Please draw me a picture of a tiger", "a picture of a tiger"],
    ["Could you please draw a tiger", "a tiger"],
    ["I would like a castle on a hill", "a castle on a hill"],
    ["i want to see my dog", "my dog"],
    ["paint brush", "paint brush"],
    ["show horse", "show horse"],
    ["draw", "draw"],
  ])("%j is about %j", (prompt, subject) => expect(withoutAsking(prompt)).toBe(subject));
});

describe("doodle's world", () => {
  it("takes what doodle knows", () =>
    expect(stayInWorld("a fox", "a red fox in a forest, 3d render")).toBe("a red fox in a forest, 3d render"));
  it("leaves the user's own words alone", () =>
    expect(stayInWorld("a zorblax", "a zorblax on green grass, flat icon")).toBe(
      "a zorblax on green grass, flat icon",
    ));
  it("drops phrases it cannot draw", () =>
    expect(stayInWorld("a fox", "a fox in the snow, bokeh, 85mm lens, cartoon style")).toBe(
      "a fox in the snow, cartoon style",
    ));
  it("gives up when the subject would go with them", () =>
    expect(stayInWorld("a fox", "a photorealistic fox, cartoon style")).toBeUndefined());
});

describe("mixSeed", () => {
  it("differs for neighbours and large seeds, and is always the same", () => {
    const seeds = [0, 1, 2, 2 ** 32, 2 ** 53 - 1].flatMap((seed) =>
      [0, 1, 2].flatMap((v) => [0, 1, 2].map((a) => mixSeed(seed, v, a))),
    );
    expect(new Set(seeds).size).toBe(seeds.length);
    expect(mixSeed(7, 0, 0)).toBe(mixSeed(7, 0, 0));
    expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32)).toBe(true);
  });
});
