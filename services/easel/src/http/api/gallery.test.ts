import { copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestFolders, startEasel, type TestEasel } from "../../testing/start-easel.js";

let easel: TestEasel;
beforeAll(async () => {
  easel = await startEasel();
});
afterAll(() => easel.stop());

const small = { prompt: "a kite", width: 64, height: 64, steps: 1 };
const draw = (seed: number, from = easel) => from.client.generate({ body: { ...small, seed } });
const list = (query = {}, from = easel) => from.client.listGallery({ query });

test("before the first picture it is empty, on, and says where it is", async () => {
  expect(await list()).toEqual({
    enabled: true,
    reason: null,
    directory: easel.folders.output,
    total: 0,
    limit: 50,
    offset: 0,
    images: [],
  });
});

describe("with pictures", () => {
  beforeAll(async () => {
    for (const seed of [1, 2, 3]) await draw(seed);
    // What else lies in the folder: a picture made elsewhere, a text, a half-written file, a link out.
    await sharp({ create: { width: 40, height: 30, channels: 3, background: "#123456" } })
      .jpeg()
      .toFile(join(easel.folders.output, "holiday.jpg"));
    await writeFile(join(easel.folders.output, "notes.txt"), "not a picture");
    await writeFile(join(easel.folders.output, ".half.png.tmp"), "half");
    await symlink("/etc/hostname", join(easel.folders.output, "link.png"));
  });

  test("the newest comes first, with its story; others' pictures have none", async () => {
    const { images, total } = await list();
    expect(total).toBe(4);
    expect(images[0]).toMatchObject({ name: "holiday.jpg", format: "jpeg", width: 40, height: 30, metadata: null });
    expect(images.slice(1).map((image) => image.metadata?.seed)).toEqual([3, 2, 1]);
    expect(images[1]!.metadata).toMatchObject({ prompt: "a kite", model: "tiny:local", steps: 1 });
    expect((await list({ limit: 2, offset: 1 })).images.map((image) => image.metadata?.seed)).toEqual([3, 2]);
    expect((await list({ offset: 99 })).images).toEqual([]);
  });

  test("limit and offset have bounds", async () => {
    for (const query of ["limit=0", "limit=501", "limit=x", "offset=-1"]) {
      expect((await fetch(`${easel.url}/api/gallery?${query}`)).status).toBe(422);
    }
  });

  test("a picture answers ETag and Range", async () => {
    const { images } = await list();
    const url = `${easel.url}/api/gallery/${images[1]!.name}`;
    const whole = await fetch(url);
    expect(whole.headers.get("content-type")).toBe("image/png");
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(bytes.length).toBe(images[1]!.size_bytes);
    const etag = whole.headers.get("etag")!;
    expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
    const part = await fetch(url, { headers: { range: "bytes=1-3" } });
    expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
      206,
      `bytes 1-3/${bytes.length}`,
      "PNG",
    ]);
    expect((await fetch(url, { headers: { range: "bytes=99999999-" } })).status).toBe(416);
    expect((await fetch(url, { method: "HEAD" })).headers.get("content-length")).toBe(String(bytes.length));
  });

  test("a thumbnail is small, kept, and has an ETag", async () => {
    const { images } = await list();
    const url = `${easel.url}/api/gallery/${images[1]!.name}/thumbnail`;
    const [first, second] = await Promise.all([fetch(url), fetch(url)]);
    const bytes = Buffer.from(await first.arrayBuffer());
    expect(first.headers.get("content-type")).toBe("image/webp");
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "webp", width: 64 });
    expect(Buffer.from(await second.arrayBuffer()).equals(bytes)).toBe(true);
    expect((await fetch(url, { headers: { "if-none-match": first.headers.get("etag")! } })).status).toBe(304);
    expect(await readdir(join(easel.folders.root, "cache", "easel", "thumbnails"))).toHaveLength(1);
  });

  test("only pictures of the folder itself can be reached", async () => {
    for (const name of [
      "nothing.png",
      "notes.txt",
      "link.png",
      ".half.png.tmp",
      "..%2F..%2Fsecret.png",
      "%2Fetc%2Fpasswd",
      "a%00.png",
    ]) {
      for (const path of [name, `${name}/thumbnail`]) {
        const response = await fetch(`${easel.url}/api/gallery/${path}`);
        expect([name, response.status]).toEqual([name, 404]);
        expect(await response.json()).toEqual({ code: "NOT_FOUND", message: expect.any(String) });
      }
    }
    await writeFile(join(easel.folders.output, "broken.png"), "no picture");
    expect((await fetch(`${easel.url}/api/gallery/broken.png/thumbnail`)).status).toBe(404);
    await rm(join(easel.folders.output, "broken.png"));
  });

  test("deleting deletes; the folder is the truth in both directions", async () => {
    const { images } = await list();
    const name = images[1]!.name;
    expect(await easel.client.deleteImage({ params: { name } })).toEqual({ deleted: name });
    await expect(easel.client.deleteImage({ params: { name } })).rejects.toMatchObject({ status: 404 });
    expect((await list()).total).toBe(3);
    await copyFile(join(easel.folders.output, images[2]!.name), join(easel.folders.output, "copied.png"));
    expect((await list()).images[0]!.name).toBe("copied.png");
    await rm(join(easel.folders.output, "copied.png"));
    expect((await list()).total).toBe(3);
  });

  test("a folder that vanishes is made again", async () => {
    await rm(easel.folders.output, { recursive: true });
    expect((await list()).total).toBe(0);
    await draw(9);
    expect((await list()).total).toBe(1);
  });

  test("a folder that cannot be written fails the save, not the picture, and says so", async () => {
    await rm(easel.folders.output, { recursive: true });
    await writeFile(easel.folders.output, "a file stands where the folder should");
    const drawn = await draw(5);
    expect(drawn.contentType).toBe("image/png");
    expect(drawn.headers.get("x-service-warning")).toMatch(/The picture was not saved: .*output/);
    expect((await list()).reason).toContain(easel.folders.output);
    const messages = [];
    for await (const { data } of easel.client.generateStream.events({ body: small })) {
      if ("type" in data && data.type === "info") messages.push(data.message);
    }
    expect(messages.join()).toContain("The picture was not saved");
    await rm(easel.folders.output);
  });
});

test("SERVICE_OUTPUT_DIR unset means output in the data folder; empty means nothing is written and the gallery says why", async () => {
  const folders = await createTestFolders();
  const unset = await startEasel({ folders, env: { SERVICE_OUTPUT_DIR: undefined } });
  await draw(1, unset);
  expect(await readdir(join(folders.root, "data", "easel", "output"))).toHaveLength(1);
  await unset.stop();

  const off = await startEasel({ folders, env: { SERVICE_OUTPUT_DIR: "" } });
  const before = await readdir(folders.root, { recursive: true });
  const drawn = await draw(2, off);
  expect(drawn.bytes.length).toBeGreaterThan(100);
  expect(drawn.headers.get("x-service-warning")).toBeNull();
  const page = await list({}, off);
  expect(page).toMatchObject({
    enabled: false,
    directory: null,
    images: [],
    reason: expect.stringContaining("SERVICE_OUTPUT_DIR"),
  });
  await expect(off.client.deleteImage({ params: { name: "x.png" } })).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining("SERVICE_OUTPUT_DIR"),
  });
  const written = (await readdir(folders.root, { recursive: true })).filter((name) => /\.(png|jpg|webp)$/.test(name));
  expect(written).toEqual(before.filter((name) => /\.(png|jpg|webp)$/.test(name)));
  await off.stop();
  await folders.remove();
});

/** A disk of 64 KiB needs the right to mount one; elsewhere the test says that it was skipped. */
test("a full disk fails the save with a clear word and keeps the answer", async (context) => {
  const { execFileSync } = await import("node:child_process");
  const folders = await createTestFolders();
  await mkdir(folders.output, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", folders.output], { stdio: "ignore" });
  } catch {
    await folders.remove();
    return context.skip("this machine does not let the tests mount a small disk");
  }
  const full = await startEasel({ folders });
  try {
    const drawn = await full.client.generate({ body: { ...small, width: 256, height: 256 } });
    expect(drawn.contentType).toBe("image/png");
    expect(drawn.headers.get("x-service-warning")).toMatch(/not saved: the disk is full/);
    expect(await readdir(folders.output)).toEqual([]);
  } finally {
    await full.stop();
    execFileSync("umount", [folders.output]);
    await folders.remove();
  }
});

test("the picture on disk is the picture that was answered", async () => {
  const drawn = await draw(77);
  const { images } = await list({ limit: 1 });
  expect(Buffer.from(drawn.bytes).equals(await readFile(join(easel.folders.output, images[0]!.name)))).toBe(true);
});
