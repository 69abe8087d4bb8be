import { afterEach, describe, expect, it } from "vitest";
import { BUILT_IN_FILE, createExpander, type ExpandSettings } from "./create-expander.js";
import type { ExpandOrder } from "./expander.js";
import { createLocalModel } from "./local-model.js";
import { unlimitedMemory } from "./memory-budget.js";
import {
  answer,
  type ChatServer,
  flood,
  refuse,
  type Step,
  silence,
  startChatServer,
  stream,
} from "./test-support/chat-server.js";
import { settingsWith } from "./test-support/expand-settings.js";

const servers: ChatServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function endpoint(...steps: Step[]) {
  const server = await startChatServer(...steps);
  servers.push(server);
  const ask = (order: Partial<ExpandOrder> = {}, settings: Partial<ExpandSettings> = {}) =>
    createExpander({ settings: settingsWith({ expandUrl: server.url, expandModel: "small", ...settings }) }).expand({
      prompt: "a red fox",
      family: "sd15",
      variations: 1,
      seed: 1,
      ...order,
    });
  return { server, ask };
}

const GOOD = "a red fox in deep snow, soft morning light, close-up, photograph";

describe("an OpenAI-compatible endpoint", () => {
  it("is asked as the protocol wants", async () => {
    const { server, ask } = await endpoint(answer(GOOD));
    expect(await ask({}, { expandKey: "secret" })).toEqual([GOOD]);
    const [seen] = server.seen;
    expect(seen?.url).toBe("/v1/chat/completions");
    expect(seen?.headers.authorization).toBe("Bearer secret");
    expect(seen?.body).toMatchObject({
      model: "small",
      messages: [{ role: "system" }, { role: "user", content: "a red fox" }],
    });
    expect(seen?.body.messages[0]?.content).toContain("At most 56 words");
  });

  it("may stream, with lines torn and thoughts apart", async () => {
    const { ask } = await endpoint(
      stream(["<think>a fox", "</think>", "a red fox in deep", " snow, soft morning light", " — 日本"]),
    );
    expect(await ask()).toEqual(["a red fox in deep snow, soft morning light — 日本"]);
  });

  it("works with a server that runs a real model", async () => {
    const model = createLocalModel({
      name: "served",
      path: BUILT_IN_FILE,
      gpu: "off",
      threads: 1,
      idleMs: 60_000,
      budget: unlimitedMemory,
      format: "chat",
    });
    const { ask } = await endpoint(async (response, seen) => {
      const { messages, seed, max_tokens: maxTokens } = seen.body;
      const [system, user] = messages.map(({ content }) => content);
      const question = {
        instruction: system ?? "",
        prompt: user ?? "",
        manner: "doodle",
        seed,
        temperature: 0.8,
        maxTokens,
      } as const;
      await stream([await model.ask(question, new AbortController().signal)])(response, seen);
    });
    const two = await ask({ family: "doodle", variations: 2, seed: 4 });
    expect(two).toEqual([expect.stringMatching(/red.*fox/), expect.stringMatching(/red.*fox/)]);
    expect(await ask({ family: "doodle", variations: 2, seed: 4 })).toEqual(two);
    await model.close();
  });

  it("gives different variations, each asked with its own seed", async () => {
    const { server, ask } = await endpoint(
      answer(({ body }) => `a red fox number ${body.seed % 2 ? "odd" : "even"} in deep snow at ${body.seed}`),
    );
    const four = await ask({ variations: 4 });
    expect(new Set(four).size).toBe(4);
    expect(new Set(server.seen.map(({ body }) => body.seed)).size).toBe(4);
    expect(await ask({ variations: 4 })).toEqual(four);
    expect(await ask({ variations: 4, seed: 2 })).not.toEqual(four);
  });

  it("is asked again when the subject is lost, and the subject is put back in the end", async () => {
    const { server, ask } = await endpoint(answer("a grey wolf in deep snow"), answer("a fox"), answer(GOOD));
    expect(await ask()).toEqual([GOOD]);
    expect(server.seen).toHaveLength(3);
    const stubborn = await endpoint(answer("deep snow, soft morning light"));
    expect(await stubborn.ask()).toEqual(["a red fox, deep snow, soft morning light"]);
  });

  it("is not believed when it only repeats the prompt", async () => {
    const { ask } = await endpoint(answer("A red fox."));
    await expect(ask()).rejects.toMatchObject({
      code: "EXPANSION_FAILED",
      message: expect.stringMatching(/nothing was added/),
    });
  });

  it("cannot leave doodle's world", async () => {
    const { ask } = await endpoint(answer("a red fox in the snow, cinematic bokeh, cartoon style"));
    expect(await ask({ family: "doodle" })).toEqual(["a red fox in the snow, cartoon style"]);
  });

  it("is cut to the family's words", async () => {
    const { ask } = await endpoint(answer(`a red fox, ${"tall trees and deep snow, ".repeat(40)}`));
    const [text] = await ask();
    expect(text?.split(" ").length).toBeLessThanOrEqual(56);
    expect(text).toMatch(/^a red fox, .*snow$/);
  });

  it("is tried again after 429, 500 and a broken stream", async () => {
    const { server, ask } = await endpoint(
      refuse(429, "slow down", { "retry-after": "0" }),
      stream(["a red"], { end: false }),
      answer(GOOD),
    );
    expect(await ask()).toEqual([GOOD]);
    expect(server.seen).toHaveLength(3);
  });

  it("fails clearly when it stays busy", async () => {
    const { server, ask } = await endpoint(refuse(429, "slow down", { "retry-after": "0" }));
    await expect(ask()).rejects.toMatchObject({
      code: "EXPANSION_FAILED",
      message: expect.stringMatching(/429.*slow down/),
    });
    expect(server.seen).toHaveLength(3);
  });

  it("is not waited for when it asks for an hour", async () => {
    const { server, ask } = await endpoint(refuse(503, "later", { "retry-after": "3600" }));
    await expect(ask()).rejects.toThrow(/503/);
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    [refuse(401, "bad key"), /refused the key.*SERVICE_EXPAND_KEY/],
    [refuse(404, "no model"), /SERVICE_EXPAND_MODEL/],
    [refuse(302, "elsewhere", { location: "http://127.0.0.1:1/" }), /cannot be reached/],
    [refuse(200, "inside a success"), /inside a success/],
    [((response) => void response.end("<html>")) as Step, /no JSON/],
    [((response) => void response.end('{"choices":[]}')) as Step, /no choices/],
    [answer("   "), /empty answer/],
  ])("fails clearly (%#)", async (step, message) => {
    const { ask } = await endpoint(step);
    await expect(ask({}, { expandRetries: 0 })).rejects.toMatchObject({
      name: "ExpandError",
      code: "EXPANSION_FAILED",
      message: expect.stringMatching(message),
    });
  });

  it("is cut off and refused when it floods", async () => {
    const { server, ask } = await endpoint(flood);
    await expect(ask()).rejects.toThrow(/more than 262144 bytes/);
    expect(server.seen).toHaveLength(1);
    await expect.poll(() => server.seen[0]?.aborted).toBe(true);
  });

  it("has its time limited", async () => {
    const { server, ask } = await endpoint(silence);
    await expect(ask({}, { expandTimeout: 1_000 })).rejects.toMatchObject({
      code: "EXPANSION_FAILED",
      message: expect.stringMatching(/within 1 s.*SERVICE_EXPAND_TIMEOUT/),
    });
    await expect.poll(() => server.seen[0]?.aborted).toBe(true);
  });

  it("is hung up on when the caller cancels", async () => {
    const { server, ask } = await endpoint(silence);
    const stop = new AbortController();
    const asked = ask({ signal: stop.signal });
    await expect.poll(() => server.seen.length).toBe(1);
    stop.abort();
    await expect(asked).rejects.toMatchObject({ code: "CANCELLED" });
    await expect.poll(() => server.seen[0]?.aborted).toBe(true);
  });

  it("says when it cannot be reached", async () => {
    const server = await startChatServer(silence);
    await server.close();
    const expander = createExpander({ settings: settingsWith({ expandUrl: server.url, expandRetries: 0 }) });
    await expect(expander.expand({ prompt: "cat", family: "sd15", variations: 1 })).rejects.toThrow(
      /cannot be reached.*ECONNREFUSED.*SERVICE_EXPAND_URL/,
    );
  });

  it("must have an address that is one", () => {
    expect(() => createExpander({ settings: settingsWith({ expandUrl: "localhost" }) })).toThrow(
      /SERVICE_EXPAND_URL must be/,
    );
  });
});

describe("a prompt that cannot be expanded", () => {
  it.each([
    ["?!", /no word/],
    ["word ".repeat(60), /60 words.*56/],
  ])("%j is refused before anyone is asked", async (prompt, message) => {
    const { server, ask } = await endpoint(answer(GOOD));
    await expect(ask({ prompt })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringMatching(message),
    });
    expect(server.seen).toHaveLength(0);
  });
});
