import OpenAI from "openai";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEasel, type TestEasel } from "../../testing/start-easel.js";

let easel: TestEasel;
let openai: OpenAI;
beforeAll(async () => {
  easel = await startEasel({ env: { SERVICE_API_KEY: "first,second" }, apiKey: "first" });
  openai = new OpenAI({ apiKey: "second", baseURL: `${easel.url}/v1`, maxRetries: 0 });
});
afterAll(() => easel.stop());

test("OpenAI's own client makes a picture", async () => {
  const { data, created } = await openai.images.generate({
    prompt: "a lighthouse",
    model: "dall-e-3",
    quality: "hd",
    size: "auto",
  });
  expect(created).toBeGreaterThan(1_700_000_000);
  expect(await sharp(Buffer.from(data![0]!.b64_json!, "base64")).metadata()).toMatchObject({
    format: "png",
    width: 128,
  });
});

test("n, size, formats and urls", async () => {
  const { data } = await openai.images.generate({
    prompt: "a lighthouse",
    model: "tiny",
    n: 2,
    size: "72x64" as "256x256",
    output_format: "webp",
    response_format: "url",
  });
  expect(data).toHaveLength(2);
  const response = await fetch(data![1]!.url!, { headers: { "x-api-key": "first" } });
  expect(await sharp(Buffer.from(await response.arrayBuffer())).metadata()).toMatchObject({
    format: "webp",
    width: 72,
    height: 64,
  });
});

test("models are listed; errors reach the client with their status", async () => {
  const ids = [];
  for await (const model of openai.models.list()) ids.push(model.id);
  expect(ids).toContain("tiny:local");
  await expect(openai.images.generate({ prompt: "x", model: "nobody" })).rejects.toMatchObject({ status: 404 });
  await expect(openai.images.generate({ prompt: "x", size: "7x7" as "256x256" })).rejects.toMatchObject({
    status: 422,
  });
  await expect(openai.images.generate({ prompt: " " })).rejects.toMatchObject({ status: 422 });
  const stranger = new OpenAI({ apiKey: "wrong", baseURL: `${easel.url}/v1`, maxRetries: 0 });
  await expect(stranger.images.generate({ prompt: "x" })).rejects.toMatchObject({ status: 401 });
});

test("keys: every one works, none or a wrong one is refused, health needs none", async () => {
  const status = async (headers: Record<string, string>, path = "/api/status") =>
    (await fetch(easel.url + path, { headers })).status;
  expect(await status({ "x-api-key": "first" })).toBe(200);
  expect(await status({ "x-api-key": "second" })).toBe(200);
  expect(await status({})).toBe(401);
  expect(await status({ "x-api-key": "firs" })).toBe(401);
  expect(await status({ "x-api-key": "first,second" })).toBe(401);
  expect(await status({}, "/health")).toBe(200);
  for (const path of ["/api/models", "/api/jobs", "/api/gallery", "/v1/models"])
    expect(await status({}, path)).toBe(401);
  const refused = await fetch(`${easel.url}/api/generate`, { method: "POST", body: "{}" });
  expect(await refused.json()).toEqual({ code: "UNAUTHORIZED", message: expect.stringContaining("X-Api-Key") });
});
