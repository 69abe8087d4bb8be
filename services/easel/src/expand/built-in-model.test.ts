/** The language model that ships with easel, in its own process, as the server runs it. */
import { afterAll, describe, expect, it } from "vitest";
import { BUILT_IN_FILE, BUILT_IN_NAME, createExpander } from "./create-expander.js";
import { foreignWords } from "./doodle-world.js";
import { createLocalModel } from "./local-model.js";
import { unlimitedMemory } from "./memory-budget.js";
import { addedWords, missingWords } from "./subject-words.js";
import { settingsWith } from "./test-support/expand-settings.js";

const expander = createExpander({ settings: settingsWith() });
afterAll(() => expander.close());

const doodle = (prompt: string, seed: number, variations = 1) =>
  expander.expand({ prompt, family: "doodle", variations, seed });

/** What people might type: things doodle knows, things it does not, names, other scripts, whole sentences. */
const PROMPTS =
  `cat|a red fox|Two apples|rocket|birthday cake|a happy robot|the Eiffel Tower|old sailor|Barack Obama|my grandmother's kitchen
dragon breathing fire|pikachu|sunset|a car on a road|blue whale|house|a snowman in winter, flat style|quantum computer|dog and cat|penguin
strawberry ice cream|黒い猫|un café à Paris|a knight riding a llama|three green frogs|wizard with a long beard|C-3PO|zorblax|the number 42|an astronaut playing guitar
Please draw me a picture of a tiger|haunted house at night|mushrooms|a glass of milk on a table|tyrannosaurus rex|sleepy koala|pizza|flag of Japan|a bicycle made of wood|a queen
city skyline|rainbow over the sea|lighthouse|umbrella in the rain|a bee on a sunflower|golden trophy|guitar|hot air balloon in the sky|owl reading a book|grumpy cat wearing a crown`
    .split(/[|\n]/)
    .map((prompt) => prompt.trim());

describe("the built-in expander", () => {
  it("keeps the subject of fifty prompts, adds to each, and stays in doodle's world", async () => {
    expect(PROMPTS).toHaveLength(50);
    for (const [seed, prompt] of PROMPTS.entries()) {
      const [expansion] = await doodle(prompt, seed);
      expect(missingWords(prompt, expansion!), `${prompt} → ${expansion}`).toEqual([]);
      expect(addedWords(prompt, expansion!).length, `${prompt} → ${expansion}`).toBeGreaterThanOrEqual(2);
      expect(foreignWords(prompt, expansion!), `${prompt} → ${expansion}`).toEqual([]);
    }
  });

  it("puts things where they belong", async () => {
    const places = async (prompt: string) => (await doodle(prompt, 3, 8)).join(" ");
    expect(await places("whale")).toMatch(/sea|water|ocean/);
    expect(await places("tractor")).toMatch(/field|road|grass|hill|meadow|street/);
    expect(await places("planet")).toMatch(/space|stars|night/);
  });

  it("gives the same words for the same seed, also after a restart, and others for another", async () => {
    const first = await doodle("a red fox", 7, 3);
    expect(await doodle("a red fox", 7, 3)).toEqual(first);
    await expander.release();
    expect(await doodle("a red fox", 7, 3)).toEqual(first);
    expect(await doodle("a red fox", 8, 3)).not.toEqual(first);
    expect(await doodle("a red fox", 7, 1)).toEqual(first.slice(0, 1));
  });

  it("gives eight different variations", async () => {
    const eight = await doodle("lighthouse", 1, 8);
    expect(new Set(eight).size).toBe(8);
  });

  it("writes otherwise for other families", async () => {
    const order = { prompt: "an old lighthouse", variations: 1, seed: 5 };
    const [tags] = await expander.expand({ ...order, family: "sd15" });
    const [prose] = await expander.expand({ ...order, family: "flux" });
    expect(tags).toMatch(/lighthouse.*,.*,.*,/);
    expect(prose).toMatch(/^[A-Z].*lighthouse.*\. [A-Z].*\.$/);
    expect(addedWords(order.prompt, tags!).length).toBeGreaterThan(8);
  });

  it("draws a seed when none is given", async () => {
    const texts = await Promise.all(
      [1, 2, 3].map(() => expander.expand({ prompt: "cat", family: "doodle", variations: 1 })),
    );
    expect(new Set(texts.flat()).size).toBeGreaterThan(1);
  });

  it("stops when cancelled, and works on", async () => {
    const stop = new AbortController();
    const asked = expander.expand({ prompt: "cat", family: "doodle", variations: 8, seed: 1, signal: stop.signal });
    stop.abort();
    await expect(asked).rejects.toMatchObject({ name: "ExpandError", code: "CANCELLED" });
    expect(await doodle("cat", 1)).toHaveLength(1);
  });

  it("stops at its time limit", async () => {
    const hurried = createExpander({ settings: settingsWith({ expandTimeout: 1 }) });
    await expect(hurried.expand({ prompt: "cat", family: "doodle", variations: 8, seed: 1 })).rejects.toMatchObject({
      code: "EXPANSION_FAILED",
      message: expect.stringMatching(new RegExp(`'${BUILT_IN_NAME}' did not finish within 0\\.001 s`)),
    });
    await hurried.close();
  });

  it("refuses a prompt its context cannot hold", async () => {
    const prompt = "龘靐齉齾".repeat(30);
    await expect(doodle(prompt, 1)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringMatching(/tokens.*shorten/),
    });
  });

  it("is also an ordinary GGUF file with a chat template of its own", async () => {
    const chat = createLocalModel({
      name: "chat",
      path: BUILT_IN_FILE,
      gpu: "off",
      threads: 1,
      idleMs: 60_000,
      budget: unlimitedMemory,
      format: "chat",
    });
    const question = {
      instruction: "Be brief.",
      prompt: "a red fox",
      manner: "doodle",
      seed: 1,
      temperature: 0.8,
      maxTokens: 60,
    } as const;
    const never = new AbortController().signal;
    const text = await chat.ask(question, never);
    expect(missingWords("a red fox", text)).toEqual([]);
    expect(await chat.ask(question, never)).toBe(text);
    await chat.close();
  });
});
