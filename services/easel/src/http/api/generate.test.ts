import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tensorFromFloats, writeSafetensors } from "@kit/tensor-files";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GenerateRequest } from "../../contract/generate.js";
import { readImageFacts } from "../../gallery/read-metadata.js";
import { startEasel, type TestEasel } from "../../testing/start-easel.js";

let easel: TestEasel;
beforeAll(async () => {
  easel = await startEasel();
});
afterAll(() => easel.stop());

const post = (body: unknown, headers: Record<string, string> = {}, query = "") =>
  fetch(`${easel.url}/api/generate${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
/** Few steps at the smallest size: what is tested here is not the drawing. */
const small = { prompt: "a red fox", width: 64, height: 64, steps: 1 };
const draw = async (more: Partial<GenerateRequest> = {}) => {
  const response = await post({ ...small, ...more });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};
const pixels = (bytes: Buffer) => sharp(bytes).raw().toBuffer();
const png = (width: number, height: number, background = "#3366cc") =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

describe("the answer", () => {
  test("is the picture itself, with its facts in headers", async () => {
    const { response, bytes } = await draw({ seed: 7 });
    expect(response.headers.get("content-type")).toBe("image/png");
    expect(response.headers.get("content-length")).toBe(String(bytes.length));
    expect(response.headers.get("x-service-seed-used")).toBe("7");
    expect(response.headers.get("x-service-model")).toBe("tiny:local");
    expect(response.headers.get("x-service-image-count")).toBe("1");
    expect(response.headers.get("x-service-generation-ms")).toMatch(/^\d+$/);
    expect(response.headers.get("x-service-job-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "png", width: 64, height: 64 });
  });

  test.each(["png", "jpeg", "webp"] as const)("%s has its type and its story inside", async (format) => {
    const { response, bytes } = await draw({ output_format: format, negative_prompt: "snow ❄", seed: 3 });
    expect(response.headers.get("content-type")).toBe(`image/${format}`);
    const path = join(easel.folders.root, `kept.${format}`);
    await writeFile(path, bytes);
    expect(await readImageFacts(path)).toMatchObject({
      format,
      width: 64,
      height: 64,
      metadata: {
        prompt: "a red fox",
        negative_prompt: "snow ❄",
        model: "tiny:local",
        seed: 3,
        steps: 1,
        guidance: 7.5,
      },
    });
    if (format === "png")
      expect(bytes.includes("Negative prompt: snow ❄\nSteps: 1, CFG scale: 7.5, Seed: 3, Size: 64x64")).toBe(true);
  });

  test("only the prompt is needed: the model supplies the rest, and the seed is told", async () => {
    const response = await post({ prompt: "fox" });
    expect(await sharp(Buffer.from(await response.arrayBuffer())).metadata()).toMatchObject({
      width: 128,
      height: 128,
    });
    expect(Number(response.headers.get("x-service-seed-used"))).toBeLessThan(2 ** 32);
  });

  test("zero and empty are values", async () => {
    const { response } = await draw({ seed: 0, guidance: 0, negative_prompt: "" });
    expect(response.headers.get("x-service-seed-used")).toBe("0");
  });

  test("a picture can be made again, byte for byte, from its own metadata", async () => {
    const { bytes } = await draw({
      prompt: "une fée 🧚",
      negative_prompt: "fog",
      seed: 2 ** 40,
      steps: 3,
      guidance: 4.5,
      width: 72,
    });
    const path = join(easel.folders.root, "again.png");
    await writeFile(path, bytes);
    const { metadata } = await readImageFacts(path);
    const { version: _version, ...request } = metadata!;
    const again = await post(request);
    expect(Buffer.from(await again.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test("image i of a batch is the picture of seed + i", async () => {
    const response = await post({ ...small, seed: 100, batch: 3 }, { accept: "multipart/mixed" });
    const [, boundary] = /^multipart\/mixed; boundary=(.+)$/.exec(response.headers.get("content-type")!)!;
    const body = Buffer.from(await response.arrayBuffer()).toString("latin1");
    const parts = body.split(`--${boundary}`).slice(1, -1);
    expect(parts).toHaveLength(3);
    expect(response.headers.get("x-service-image-count")).toBe("3");
    const images = parts.map((part) => Buffer.from(part.slice(part.indexOf("\r\n\r\n") + 4, -2), "latin1"));
    expect(parts.map((part) => /x-service-seed-used: (\d+)/.exec(part)![1])).toEqual(["100", "101", "102"]);
    const alone = await draw({ seed: 102 });
    expect(alone.bytes.equals(images[2]!)).toBe(true);
    expect(images[0]!.equals(images[1]!)).toBe(false);
  });

  test("a batch as a zip is one that other programs open", async () => {
    const response = await post({ ...small, batch: 2 }, { accept: "application/zip" });
    expect(response.headers.get("content-type")).toBe("application/zip");
    const zip = Buffer.from(await response.arrayBuffer());
    // The directory at the end names both entries and where they begin.
    expect(zip.readUInt16LE(zip.length - 12)).toBe(2);
    const directory = zip.readUInt32LE(zip.length - 6);
    expect(zip.toString("latin1", directory, directory + 4)).toBe("PK\x01\x02");
    const size = zip.readUInt32LE(directory + 24);
    const nameLength = zip.readUInt16LE(directory + 28);
    const picture = zip.subarray(30 + nameLength, 30 + nameLength + size);
    expect(await sharp(picture).metadata()).toMatchObject({ format: "png", width: 64 });
  });

  test("otherwise a batch is image 0, and links to the others in the gallery", async () => {
    const response = await post({ ...small, batch: 3, seed: 5 });
    expect(response.headers.get("content-type")).toBe("image/png");
    const links = response.headers.get("link")!.split(", ");
    expect(links).toHaveLength(2);
    const [, path] = /^<(.+)>; rel="item"$/.exec(links[1]!)!;
    const linked = await fetch(easel.url + path);
    expect(Buffer.from(await linked.arrayBuffer()).equals((await draw({ seed: 7 })).bytes)).toBe(true);
  });

  test("what is asked for in vain is said", async () => {
    const { response } = await draw({ strength: 0.5, lora_scale: 2 });
    expect(response.headers.get("x-service-warning")).toMatch(/strength has no effect.*lora_scale has no effect/);
  });

  test("every picture is in the output folder, and no half one ever", async () => {
    await draw();
    const names = await readdir(easel.folders.output);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(name).toMatch(/^\d{8}-\d{6}-\d{3}-tiny-local-\d+-\d+\.(png|jpg|webp)$/);
  });
});

describe("fields at and past their bounds", () => {
  const long = "x".repeat(77_000);
  test.each<[keyof GenerateRequest, unknown[], unknown[]]>([
    ["prompt", [long], ["", " \n\t", `${long}x`, "é".repeat(38_501), 5, null]],
    ["negative_prompt", ["", long], [`${long}x`, 7, null]],
    ["width", [64, 72, 2048], [63, 65, 56, 2056, 0, -64, 64.5, "64", null]],
    ["height", [64, 72], [63, 65, 56, 2056, "64"]],
    ["steps", [1, 150], [0, 151, -1, 1.5, "4", null]],
    ["seed", [0, 2 ** 53 - 1], [-1, 2 ** 53, 0.5, "1", null]],
    ["guidance", [0, 0.0, 100, 7.25], [-0.1, 100.1, "7", null]],
    ["batch", [1], [0, 17, 2.5, "2", null]],
    ["strength", [0, 1], [-0.01, 1.01, "1"]],
    ["lora_scale", [-4, 4], [-4.1, 4.1, "1"]],
    ["expand", [false], ["false", 0, null]],
    ["output_format", ["png", "webp"], ["gif", "PNG", "", null, 1]],
    ["model", ["tiny", "tiny:local", "TINY"], [5, null]],
  ])("%s", async (field, good, bad) => {
    for (const value of good) {
      const response = await post({ ...small, [field]: value });
      expect([response.status, field, value], await clip(response)).toEqual([200, field, value]);
    }
    for (const value of bad) {
      const response = await post({ ...small, [field]: value });
      const error = (await response.json()) as { code: string; message: string };
      expect([response.status, error.code, field, value]).toEqual([422, "VALIDATION_ERROR", field, value]);
      expect(error.message).toContain(`'${field}'`);
    }
  });

  const clip = async (response: Response) => (response.status === 200 ? "" : (await response.text()).slice(0, 300));

  test("together: area, seed with batch, mask without image", async () => {
    const messages = [];
    for (const more of [{ width: 2048, height: 2048 }, { seed: 2 ** 53 - 1, batch: 2 }, { mask: "AAAA" }]) {
      const response = await post({ ...small, ...more });
      expect(response.status).toBe(422);
      messages.push(((await response.json()) as { message: string }).message);
    }
    expect(messages[0]).toContain("4194304 pixels");
    expect(messages[1]).toContain("9007199254740990");
    expect(messages[2]).toContain("'image'");
  });

  test("an unknown field is named with the nearest known one", async () => {
    const response = await post({ ...small, negativeprompt: "x" });
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual({
      code: "VALIDATION_ERROR",
      message: expect.stringMatching(/'negativeprompt'.*'negative_prompt'/),
    });
  });

  test("other wrongs have their own codes", async () => {
    const answers: [Promise<Response>, number, string][] = [
      [post("{"), 400, "MALFORMED_JSON"],
      [post("[]"), 422, "VALIDATION_ERROR"],
      [post({ steps: 1 }), 422, "VALIDATION_ERROR"],
      [post({ ...small, model: "tinny" }), 404, "UNKNOWN_MODEL"],
      [post({ ...small, model: "sd15" }), 409, "MODEL_NOT_DOWNLOADED"],
      [post({ ...small, model: "taesd" }), 422, "VALIDATION_ERROR"],
      [post(small, { "content-type": "text/plain" }), 415, "UNSUPPORTED_MEDIA_TYPE"],
      [fetch(`${easel.url}/api/generate`), 405, "METHOD_NOT_ALLOWED"],
    ];
    for (const [answer, status, code] of answers) {
      const response = await answer;
      expect([response.status, await response.json()]).toEqual([status, { code, message: expect.any(String) }]);
    }
    expect(((await (await post({ ...small, model: "tinny" })).json()) as { message: string }).message).toContain(
      "'tiny'",
    );
  });

  test("a body over 64 MiB is refused before it is read", async () => {
    const response = await post({ ...small, image: "A".repeat(64 * 2 ** 20) }).catch((error: Error) => error);
    // The server may hang up while we still send: that is a refusal as well.
    if (response instanceof Response) {
      expect([response.status, await response.json()]).toEqual([
        413,
        { code: "PAYLOAD_TOO_LARGE", message: expect.any(String) },
      ]);
    }
    expect((await fetch(`${easel.url}/health`)).status).toBe(200);
  });
});

describe("an input image", () => {
  test("is taken as base64 of either alphabet, padded or not, with or without a data: prefix", async () => {
    const source = (await png(80, 80, "#fbff3e")).toString("base64");
    const forms = [
      source,
      source.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
      `data:image/png;base64,${source}`,
    ];
    const results = [];
    for (const image of forms) results.push((await draw({ image, seed: 1, steps: 2 })).bytes);
    expect(results[1]!.equals(results[0]!)).toBe(true);
    expect(results[2]!.equals(results[0]!)).toBe(true);
  });

  test("without a size keeps its shape at the model's area", async () => {
    const response = await post({ prompt: "x", steps: 1, image: (await png(400, 100)).toString("base64") });
    expect(await sharp(Buffer.from(await response.arrayBuffer())).metadata()).toMatchObject({ width: 256, height: 64 });
  });

  test("strength decides how many steps run", async () => {
    const image = (await png(64, 64)).toString("base64");
    for (const [steps, strength, total] of [
      [10, 0.75, 7],
      [10, 0.05, 1],
      [4, 1, 4],
    ] as const) {
      const totals = new Set<number>();
      for await (const { event, data } of easel.client.generateStream.events({
        body: { ...small, steps, strength, image },
      })) {
        if (event === "progress" && data.type === "denoise_step") totals.add(data.total);
      }
      expect([...totals]).toEqual([total]);
    }
  });

  test("kept pixels of an inpainting are the input's own", async () => {
    const image = await png(64, 64, "#18a05f");
    const mask = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#000" } })
      .composite([{ input: await png(32, 64, "#ffffff"), left: 0, top: 0 }])
      .png()
      .toBuffer();
    const { bytes } = await draw({
      image: image.toString("base64"),
      mask: mask.toString("base64"),
      steps: 4,
      strength: 1,
    });
    const result = await pixels(bytes);
    const right = [];
    for (let y = 0; y < 64; y++)
      for (let x = 40; x < 64; x++) right.push(...result.subarray((y * 64 + x) * 3, (y * 64 + x) * 3 + 3));
    expect(new Set(right)).toEqual(new Set([0x18, 0xa0, 0x5f]));
    expect(result.subarray(0, 3).toString("hex")).not.toBe("18a05f");
  });

  test("that is none, is damaged, or is a bomb, is refused before it costs anything", async () => {
    const good = await png(64, 64);
    // A header that claims 20,000 x 20,000 pixels.
    const bomb = Buffer.from(good);
    bomb.writeUInt32BE(20_000, 16);
    bomb.writeUInt32BE(20_000, 20);
    const gif = await sharp(good).gif().toBuffer();
    const cases: [string, RegExp][] = [
      ["", /'image' .*empty/],
      ["no base64!", /no base64/],
      ["AAAAA", /no base64/],
      ["data:image/png,AAAA", /prefix/],
      [Buffer.from("hello world, no picture").toString("base64"), /must be a PNG, JPEG or WebP/],
      [gif.toString("base64"), /is gif/],
      [good.subarray(0, good.length - 40).toString("base64"), /damaged/],
      [bomb.toString("base64"), /20000x20000 pixels: it must have at most 32 megapixels|must be a PNG/],
    ];
    for (const [image, message] of cases) {
      const response = await post({ ...small, image });
      expect([response.status, await response.json()]).toEqual([
        422,
        { code: "VALIDATION_ERROR", message: expect.stringMatching(message) },
      ]);
    }
  });
});

describe("an adapter", () => {
  test("changes the picture, by its scale, and is written into it", async () => {
    const plain = await draw({ seed: 9 });
    const styled = await draw({ seed: 9, lora: "style.safetensors" });
    const none = await draw({ seed: 9, lora: "style.safetensors", lora_scale: 0 });
    expect((await pixels(styled.bytes)).equals(await pixels(plain.bytes))).toBe(false);
    expect((await pixels(none.bytes)).equals(await pixels(plain.bytes))).toBe(true);
    const path = join(easel.folders.root, "styled.png");
    await writeFile(path, styled.bytes);
    expect((await readImageFacts(path)).metadata).toMatchObject({ lora: "style.safetensors", lora_scale: 1 });
  });

  test("may be named by its absolute path, in a folder of folders, and is listed", async () => {
    await mkdir(join(easel.folders.adapters, "more"), { recursive: true });
    await copyFile(
      join(easel.folders.adapters, "style.safetensors"),
      join(easel.folders.adapters, "more", "deep.safetensors"),
    );
    await draw({ lora: join(easel.folders.adapters, "style.safetensors") });
    await draw({ lora: "more/deep.safetensors" });
    const list = await easel.client.listAdapters();
    expect(list.adapters.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["more/deep.safetensors", "style.safetensors"]),
    );
  });

  test("outside the allowed folders, missing, or no adapter is a 422 before anything runs", async () => {
    const { adapters, root } = easel.folders;
    await copyFile(join(adapters, "style.safetensors"), join(root, "outside.safetensors"));
    await symlink(join(root, "outside.safetensors"), join(adapters, "link.safetensors"));
    await writeFile(join(adapters, "words.safetensors"), "I am no tensor file");
    const strange = tensorFromFloats("unet.no_such_layer.lora_A.weight", [2, 16], new Float32Array(32));
    await writeSafetensors(join(adapters, "stranger.safetensors"), [strange], {});
    const cases: [string, RegExp][] = [
      ["stranger.safetensors", /stranger.safetensors/],
      ["../outside.safetensors", /must lie in the adapters folder/],
      [join(root, "outside.safetensors"), /must lie in the adapters folder/],
      ["link.safetensors", /must lie in the adapters folder/],
      ["/etc/passwd", /must end in .safetensors/],
      ["missing.safetensors", /no such file/],
      ["words.safetensors", /words.safetensors/],
      ["", /path of an adapter/],
    ];
    for (const [lora, message] of cases) {
      const response = await post({ ...small, lora });
      expect([lora, response.status, await response.json()]).toEqual([
        lora,
        422,
        { code: "VALIDATION_ERROR", message: expect.stringMatching(message) },
      ]);
    }
  });
});

test("the same request twice is the same picture; another model or seed is another", async () => {
  const hash = async (more: Partial<GenerateRequest>) =>
    createHash("sha256")
      .update(await pixels((await draw(more)).bytes))
      .digest("hex");
  const first = await hash({ seed: 11 });
  expect(await hash({ seed: 11 })).toBe(first);
  expect(await hash({ seed: 12 })).not.toBe(first);
  expect(await hash({ seed: 11, model: "other" })).not.toBe(first);
});
