import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeTinyCheckpoint } from "@kit/diffusion/testing";
import { tensorFromFloats, writeSafetensors } from "@kit/tensor-files";
import { afterAll, beforeAll, expect, test } from "vitest";
import { catalogue } from "./catalogue/catalogue.js";
import { addLocalModel, forgetLocalModel, listLocalModels } from "./local-models.js";
import { createModelStore } from "./model-store.js";

let root: string;
let models: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "local-"));
  models = join(root, "models");
  await writeTinyCheckpoint(join(models, "local", "Dropped"), { kind: "lcm" });
  await writeTinyCheckpoint(join(root, "elsewhere"));
});
afterAll(() => rm(root, { recursive: true }));

const createStore = () =>
  createModelStore({ catalogue, modelsFolder: models, builtinFolder: join(root, "builtin"), defaultModel: "dropped" });

test("a dropped-in folder is a model at once, with defaults read from its files", async () => {
  const [model] = await listLocalModels(models);
  expect(model).toMatchObject({
    name: "dropped:local",
    source: "local",
    downloaded: true,
    defaults: { width: 128, height: 128, steps: 4, guidance: 1 },
  });
  expect(model!.sizeBytes).toBeGreaterThan(10_000);
  expect((await createStore().resolveUsable(undefined)).name).toBe("dropped:local");
});

test("easel.json sets what the files do not tell; a broken one is reported, not fatal", async () => {
  await writeFile(
    join(models, "local", "Dropped", "easel.json"),
    JSON.stringify({ license: "CC0", defaults: { steps: 9 } }),
  );
  expect((await listLocalModels(models))[0]).toMatchObject({ license: "CC0", defaults: { steps: 9, width: 128 } });
  await writeFile(join(models, "local", "Dropped", "easel.json"), JSON.stringify({ defaults: { steps: "many" } }));
  const problems: string[] = [];
  expect(await listLocalModels(models, (_path, why) => problems.push(why))).toEqual([]);
  expect(problems[0]).toContain("easel.json");
  await rm(join(models, "local", "Dropped", "easel.json"));
});

test("a path is added by name, found by every store, and forgotten again", async () => {
  const added = await addLocalModel(models, join(root, "elsewhere"), { name: "mine", quantisation: "q8" });
  expect(added.files).toMatchObject({ name: "mine:local", path: join(root, "elsewhere"), quantisation: "q8" });
  const store = createStore();
  expect((await store.resolve("mine")).name).toBe("mine:local");
  expect(await store.remove(await store.resolve("mine"))).toBe(0);
  await expect(store.resolve("mine")).rejects.toThrow(/There is no model 'mine'/);
  expect(await forgetLocalModel(models, "mine")).toBe(false);
});

test("single files tell their family by one tensor", async () => {
  const key = "model.diffusion_model.input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight";
  const file = join(root, "fine-tune.safetensors");
  await writeSafetensors(file, [tensorFromFloats(key, [1, 1024], new Float32Array(1024))], {});
  expect(await addLocalModel(models, file)).toMatchObject({ name: "fine-tune:local", family: "sd21" });
});

test.each([
  ["nothing-here", /is no model/],
  ["empty-folder", /is no model/],
  ["notes.txt", /is no model/],
  ["picture.safetensors", /cannot be used/],
  ["adapter.safetensors", /no Stable Diffusion UNet/],
])("%s is refused with the reason", async (name, reason) => {
  const path = join(root, name);
  if (name === "empty-folder") await mkdir(path, { recursive: true });
  if (name === "notes.txt" || name === "picture.safetensors")
    await writeFile(path, "hello, I am no tensor file at all");
  if (name === "adapter.safetensors")
    await writeSafetensors(path, [tensorFromFloats("a", [1], new Float32Array(1))], {});
  await expect(addLocalModel(models, path)).rejects.toThrow(reason);
});

test("a bad name, and removing what ships or what was dropped in, are refused", async () => {
  await expect(addLocalModel(models, join(root, "elsewhere"), { name: "../x" })).rejects.toThrow(/name '..\/x'/);
  const store = createStore();
  await expect(store.remove(await store.resolve("doodle:base"))).rejects.toMatchObject({ code: "FORBIDDEN" });
  await expect(store.remove(await store.resolve("dropped"))).rejects.toMatchObject({ code: "FORBIDDEN" });
  await expect(store.remove(await store.resolve("sd15"))).rejects.toMatchObject({ code: "MODEL_NOT_DOWNLOADED" });
});

test("a catalogue model that is not here says how to get it; a part draws nothing", async () => {
  const store = createStore();
  await expect(store.resolveUsable("sd15")).rejects.toMatchObject({
    code: "MODEL_NOT_DOWNLOADED",
    message: expect.stringContaining("easel models pull sd15:fp16"),
  });
  await expect(store.resolveUsable("taesd")).rejects.toThrow(/draws no pictures/);
});
