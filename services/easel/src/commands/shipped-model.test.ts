/** What a new user does first: the real server with the model and the adapter that ship, over HTTP and from the command line. */
import { spawnSync } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEasel, type TestEasel } from "../testing/start-easel.js";

const PROGRAM = fileURLToPath(new URL("../../bin/easel.js", import.meta.url));
let easel: TestEasel;

beforeAll(async () => {
  easel = await startEasel();
});
afterAll(async () => {
  await easel?.stop();
});

/** How far the colour channels lie apart, over all pixels: 0 for black, white and grey. */
async function measureColour(picture: Buffer | string): Promise<number> {
  const pixels = await sharp(picture).removeAlpha().raw().toBuffer();
  let sum = 0;
  for (let i = 0; i < pixels.length; i += 3) {
    const colour = pixels.subarray(i, i + 3);
    sum += Math.max(...colour) - Math.min(...colour);
  }
  return sum / (pixels.length / 3);
}

async function draw(body: Record<string, unknown>): Promise<{ picture: Buffer; warning: string | null }> {
  const response = await fetch(`${easel.url}/api/generate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "doodle:turbo", seed: 1, ...body }),
  });
  expect(response.status).toBe(200);
  return { picture: Buffer.from(await response.arrayBuffer()), warning: response.headers.get("x-service-warning") };
}

test("the shipped adapter turns a coloured picture into ink lines, in the API and on the command line", async () => {
  const plain = await draw({ prompt: "a red apple" });
  const ink = await draw({ prompt: "a red apple", lora: "ink-drawing.safetensors" });
  expect(await measureColour(plain.picture)).toBeGreaterThan(40);
  expect(await measureColour(ink.picture)).toBeLessThan(10);

  const file = join(await mkdtemp(join(tmpdir(), "easel-shipped-")), "apple.png");
  const args = ["run", "a red apple", "--model", "doodle:turbo", "--seed", "1", "--lora", "ink-drawing.safetensors"];
  const ended = spawnSync(process.execPath, [PROGRAM, ...args, "-o", file], {
    env: { ...process.env, ...easel.folders.env, SERVICE_URL: easel.url },
  });
  expect(ended.status).toBe(0);
  expect((await sharp(file).raw().toBuffer()).equals(await sharp(ink.picture).raw().toBuffer())).toBe(true);
});

test("sizes and shapes near its own are drawn natively, with nothing to be said", async () => {
  for (const [width, height] of [
    [384, 256],
    [224, 320],
    [192, 192],
  ]) {
    const { picture, warning } = await draw({ prompt: "a fox", width, height });
    expect(await sharp(picture).metadata()).toMatchObject({ width, height });
    expect(warning).toBeNull();
  }
});

test("a very wide picture is the widest native one with its edges continued, and the answer says so", async () => {
  const { picture, warning } = await draw({ prompt: "a fox", width: 512, height: 256 });
  expect(await sharp(picture).metadata()).toMatchObject({ width: 512, height: 256 });
  expect(warning).toBe("drawn at 384x256, a size this model was trained on, with its edges continued to 512x256");
  const native = await draw({ prompt: "a fox", width: 384, height: 256 });
  const middle = { left: 64 + 8, top: 0, width: 384 - 16, height: 256 };
  const found = await sharp(picture).extract(middle).raw().toBuffer();
  const expected = await sharp(native.picture)
    .extract({ ...middle, left: 8 })
    .raw()
    .toBuffer();
  expect(found.equals(expected)).toBe(true);
});
