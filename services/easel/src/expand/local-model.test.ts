/** The process around a local model, with programs that misbehave in the model's place; the real model is in built-in-model.test.ts. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalModel, type LocalModelOptions } from "./local-model.js";
import { createMemoryBudget, unlimitedMemory } from "./memory-budget.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "easel-local-model-"));
  await writeFile(join(folder, "model.gguf"), "no model at all");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const question = {
  instruction: "",
  prompt: "cat",
  manner: "doodle",
  seed: 1,
  temperature: 0.8,
  maxTokens: 10,
} as const;
const never = new AbortController().signal;

async function model(program?: string, changes: Partial<LocalModelOptions> = {}) {
  const options = {
    name: "test",
    path: join(folder, "model.gguf"),
    gpu: "off",
    threads: 1,
    idleMs: 60_000,
    budget: unlimitedMemory,
  } as const;
  if (program === undefined) return createLocalModel({ ...options, ...changes });
  const file = join(folder, `${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(file, program);
  return createLocalModel({ ...options, program: file, ...changes });
}

const ECHO = `process.on("message", (m) => m.type === "ask" && process.send({ type: "answer", id: m.id, text: String(process.pid) }));`;

describe("a local model's process", () => {
  it("fails the question when it crashes, and starts again for the next", async () => {
    const crashing = await model(
      `process.on("message", () => { console.error("boom in native code"); process.kill(process.pid, "SIGSEGV"); });`,
    );
    await expect(crashing.ask(question, never)).rejects.toMatchObject({
      code: "EXPANSION_FAILED",
      message: expect.stringMatching(/SIGSEGV.*boom in native code/),
    });
    await expect(crashing.ask(question, never)).rejects.toThrow(/SIGSEGV/);
    await crashing.close();
  });

  it("is kept while it is asked and ended when idle", async () => {
    const idle = await model(ECHO, { idleMs: 1_000 });
    const first = Number(await idle.ask(question, never));
    expect(Number(await idle.ask(question, never))).toBe(first);
    await expect.poll(() => alive(first)).toBe(false);
    expect(Number(await idle.ask(question, never))).not.toBe(first);
    await idle.close();
  });

  it("leaves at once where memory is short", async () => {
    const crowded = await model(ECHO, { budget: { admit: async () => {}, isCrowdedBy: () => true } });
    const pid = Number(await crowded.ask(question, never));
    await expect.poll(() => alive(pid)).toBe(false);
    await crowded.close();
  });

  it("is told to stop when the caller cancels", async () => {
    const program = `let asked; process.on("message", (m) => { if (m.type === "ask") asked ??= m.id; else process.send({ type: "failed", id: m.id, message: "stopped", fault: "model" }); if (m.question?.prompt === "again") process.send({ type: "answer", id: m.id, text: "still here" }); });`;
    const slow = await model(program);
    const stop = new AbortController();
    const asked = slow.ask(question, stop.signal);
    setTimeout(() => stop.abort(), 50);
    await expect(asked).rejects.toThrow(/abort/i);
    expect(await slow.ask({ ...question, prompt: "again" }, never)).toBe("still here");
    await slow.close();
  });

  it("leaves no process behind when closed", async () => {
    const closing = await model(ECHO);
    const pid = Number(await closing.ask(question, never));
    await closing.close();
    expect(alive(pid)).toBe(false);
  });

  it("says so when the file is missing or no model", async () => {
    const missing = await model(undefined, { path: join(folder, "none.gguf") });
    await expect(missing.ask(question, never)).rejects.toThrow(/none\.gguf is no file.*easel models pull/);
    const garbage = await model();
    await expect(garbage.ask(question, never)).rejects.toMatchObject({
      code: "EXPANSION_FAILED",
      message: expect.stringMatching(/failed: /),
    });
    await garbage.close();
  });
});

describe("the memory budget", () => {
  const GIB = 2 ** 30;
  function engine(busyFor: number) {
    const asked = { statuses: 0, unloaded: 0 };
    return {
      asked,
      status: () => ({
        busy: asked.statuses++ < busyFor,
        modelsLoaded: asked.unloaded ? [] : ["doodle:base"],
        backend: "cpu" as const,
        gpu: null,
        residentBytes: GIB,
      }),
      unload: async () => {
        asked.unloaded++;
        return ["doodle:base"];
      },
    };
  }

  it("lets the built-in model pass at once", async () => {
    const busy = engine(1000);
    await createMemoryBudget({ engine: busy, availableBytes: () => 0 }).admit(100 * 2 ** 20, "small", never);
    expect(busy.asked).toEqual({ statuses: 0, unloaded: 0 });
  });

  it("waits for the running generation, then makes room", async () => {
    const busy = engine(3);
    const budget = createMemoryBudget({
      engine: busy,
      availableBytes: () => (busy.asked.unloaded ? 4 * GIB : GIB),
      pollMs: 1,
    });
    await budget.admit(2 * GIB, "large", never);
    expect(busy.asked.statuses).toBeGreaterThan(3);
    expect(busy.asked.unloaded).toBe(1);
  });

  it("knows when a large model crowds the machine", () => {
    const budget = createMemoryBudget({ engine: engine(0), availableBytes: () => 2 * GIB });
    expect(budget.isCrowdedBy(GIB)).toBe(true);
    expect(budget.isCrowdedBy(2 ** 20)).toBe(false);
    expect(createMemoryBudget({ engine: engine(0), availableBytes: () => 4 * GIB }).isCrowdedBy(GIB)).toBe(false);
  });

  it("refuses what cannot fit, and stops waiting when cancelled", async () => {
    await expect(
      createMemoryBudget({ engine: engine(0), availableBytes: () => GIB }).admit(2 * GIB, "large", never),
    ).rejects.toMatchObject({ code: "OUT_OF_MEMORY", message: expect.stringMatching(/'large' needs 2048 MiB/) });
    const waiting = createMemoryBudget({
      engine: engine(Number.POSITIVE_INFINITY),
      availableBytes: () => GIB,
      pollMs: 1,
    });
    await expect(waiting.admit(2 * GIB, "large", AbortSignal.timeout(20))).rejects.toThrow(/abort/i);
  });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
