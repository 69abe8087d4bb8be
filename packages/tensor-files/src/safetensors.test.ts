import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tensorFromFloats } from "./memory-tensor.js";
import { readTensorFloats } from "./read-tensor.js";
import { openSafetensors, openShardedSafetensors } from "./safetensors.js";
import { TensorFileError } from "./tensor-file-error.js";
import { type MemoryTensor, overlaySource, prefixedSource, sliceRows } from "./tensor-source.js";
import { writeSafetensors } from "./write-safetensors.js";

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), "safetensors-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A file with this header and so many bytes of data. */
async function writeRaw(header: unknown, dataBytes: number, name = "case.safetensors"): Promise<string> {
  const json = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const bytes = Buffer.alloc(8 + json.length + dataBytes);
  bytes.writeBigUInt64LE(BigInt(json.length));
  json.copy(bytes, 8);
  const file = path.join(folder, name);
  await writeFile(file, bytes);
  return file;
}

const f32 = (shape: number[], begin: number, end: number): object => ({
  dtype: "F32",
  shape,
  data_offsets: [begin, end],
});

describe("openSafetensors", () => {
  it("reads back what was written, in every float type", async () => {
    const numbers = Float32Array.of(0, -1.5, 65504, 2 ** -24, 1 / 3, -0);
    const file = path.join(folder, "round-trip.safetensors");
    await writeSafetensors(
      file,
      [
        tensorFromFloats("a.weight", [2, 3], numbers),
        tensorFromFloats("b", [6], numbers, "F16"),
        bfloats("c", numbers),
      ],
      { format: "pt" },
    );
    const opened = await openSafetensors(file);
    expect([...opened.names()]).toEqual(["a.weight", "b", "c"]);
    expect(opened.metadata.get("format")).toBe("pt");
    expect(opened.get("a.weight")).toMatchObject({ dtype: "F32", shape: [2, 3], file, length: 24 });
    expect(readTensorFloats(opened.get("a.weight")!)).toEqual(numbers);
    expect(Math.abs(readTensorFloats(opened.get("b")!)[4]! - 1 / 3)).toBeLessThan(2 ** -12);
    expect(readTensorFloats(opened.get("c")!)[1]).toBe(-1.5);
    expect(opened.get("nothing")).toBeUndefined();
  });

  it("rounds every half back to itself", async () => {
    const all = new Uint16Array(65536).map((_, i) => i);
    const halves: MemoryTensor = { name: "h", dtype: "F16", shape: [65536], data: new Uint8Array(all.buffer) };
    const floats = readTensorFloats(halves);
    const back = new Uint16Array(tensorFromFloats("h", [65536], floats, "F16").data.buffer);
    back.forEach((bits, i) => {
      if (!Number.isNaN(floats[i]!)) expect(bits).toBe(i);
    });
  });

  it("gives the real path of a linked file, because graphs map it", async () => {
    const file = await writeRaw({ a: f32([1], 0, 4) }, 4, "blob");
    await symlink(file, path.join(folder, "linked.safetensors"));
    expect((await openSafetensors(path.join(folder, "linked.safetensors"))).get("a")).toMatchObject({ file });
  });

  const bad: [string, unknown, number, RegExp][] = [
    ["offsets outside the file", { a: f32([4], 0, 16) }, 8, /tensor 'a' ends at byte .* truncated/],
    ["overlapping ranges", { a: f32([2], 0, 8), b: f32([2], 4, 12) }, 12, /'a' and 'b' overlap/],
    ["an unknown type", { a: { dtype: "F31", shape: [1], data_offsets: [0, 4] } }, 4, /unknown type "F31"/],
    ["a type of GGUF's", { a: { dtype: "Q8_0", shape: [32], data_offsets: [0, 34] } }, 34, /unknown type "Q8_0"/],
    [
      "a shape that does not fit its bytes",
      { a: f32([3], 0, 8) },
      8,
      /has 8 bytes, which do not make F32 of shape \[3\]/,
    ],
    ["a negative size", { a: f32([-1], 0, 4) }, 4, /invalid shape/],
    ["an absurd size", { a: f32([2 ** 40, 2 ** 40], 0, 4) }, 4, /do not make F32/],
    ["an end before its beginning", { a: f32([0], 8, 4) }, 8, /ends \(4\) before it begins \(8\)/],
    ["no offsets", { a: { dtype: "F32", shape: [1] } }, 4, /invalid data_offsets/],
    ["a number for a tensor", { a: 5 }, 4, /tensor 'a' is not described/],
    ["broken JSON", '{"a": ', 0, /not valid JSON/],
    ["a list", "[]", 4, /no JSON object/],
  ];
  it.each(bad)("refuses %s", async (_what, header, bytes, message) => {
    const file = await writeRaw(header, bytes);
    const error = await openSafetensors(file).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TensorFileError);
    expect(String(error)).toMatch(message);
    expect(String(error)).toContain(file);
  });

  const foreign: [string, Uint8Array, RegExp][] = [
    ["a zipped pickle", Buffer.from("PK\x03\x04\x00\x00archive/data.pkl"), /zip archive, probably a PyTorch pickle/],
    [
      "a bare pickle",
      Buffer.from([0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8]),
      /Python pickle/,
    ],
    ["a Git LFS pointer", Buffer.from("version https://git-lfs.github.com/spec/v1\noid sha256:0"), /Git LFS pointer/],
    ["a web page", Buffer.from("<!DOCTYPE html><html></html>"), /failed download/],
    ["an empty file", Buffer.alloc(0), /only 0 bytes/],
    [
      "a header longer than the limit",
      Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x7b, 0x7d]),
      /the limit is/,
    ],
    ["a header longer than the file", Buffer.from([0xff, 0xff, 0, 0, 0, 0, 0, 0, 0x7b, 0x7d]), /truncated/],
  ];
  it.each(foreign)("says what it found instead: %s", async (_what, bytes, message) => {
    const file = path.join(folder, "foreign.safetensors");
    await writeFile(file, bytes);
    await expect(openSafetensors(file)).rejects.toThrow(message);
  });

  it("never fails otherwise than with its own error, whatever bytes are changed", async () => {
    const good = await readFile(await writeRaw({ a: f32([2], 0, 8), "b.c": f32([1, 1], 8, 12) }, 12, "good"));
    const change = fc.record({ at: fc.nat(good.length - 1), value: fc.integer({ min: 0, max: 255 }) });
    const file = path.join(folder, "fuzz.safetensors");
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 6 }), fc.nat(good.length), async (changes, length) => {
        const bytes = Buffer.from(good);
        for (const { at, value } of changes) bytes[at] = value;
        await writeFile(file, bytes.subarray(0, length));
        try {
          const opened = await openSafetensors(file);
          for (const name of opened.names()) readTensorFloats(opened.get(name)!);
        } catch (error) {
          if (!(error instanceof TensorFileError)) throw error;
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe("openShardedSafetensors", () => {
  it("joins the shards", async () => {
    await writeRaw({ a: f32([1], 0, 4) }, 4, "s-1.safetensors");
    await writeRaw({ b: f32([1], 0, 4) }, 4, "s-2.safetensors");
    const index = path.join(folder, "s.index.json");
    await writeFile(index, JSON.stringify({ weight_map: { a: "s-1.safetensors", b: "s-2.safetensors" } }));
    expect([...(await openShardedSafetensors(index)).names()]).toEqual(["a", "b"]);
  });

  it("names the tensor and the shard that lacks it", async () => {
    await writeRaw({ a: f32([1], 0, 4) }, 4, "t-1.safetensors");
    const index = path.join(folder, "t.index.json");
    await writeFile(index, JSON.stringify({ weight_map: { z: "t-1.safetensors" } }));
    await expect(openShardedSafetensors(index)).rejects.toThrow(
      /tensor 'z' is in t-1.safetensors, but it is not there/,
    );
  });

  it("does not follow shard names out of the folder", async () => {
    const index = path.join(folder, "u.index.json");
    await mkdir(path.join(folder, "in"), { recursive: true });
    await writeFile(index, JSON.stringify({ weight_map: { z: "../secret.safetensors" } }));
    await expect(openShardedSafetensors(index)).rejects.toThrow(/which is no file name/);
  });
});

describe("sources", () => {
  const base = {
    origin: "memory",
    names: () => ["unet.a", "vae.b"],
    get: (name: string) =>
      name.includes(".") ? tensorFromFloats(name, [2, 2], Float32Array.of(1, 2, 3, 4)) : undefined,
  };

  it("see a component without its prefix", () => {
    const unet = prefixedSource(base, "unet.");
    expect([...unet.names()]).toEqual(["a"]);
    expect(unet.get("a")?.name).toBe("a");
  });

  it("replace tensors without touching the others", () => {
    const merged = overlaySource(base, [tensorFromFloats("unet.a", [1], Float32Array.of(9))]);
    expect(readTensorFloats(merged.get("unet.a")!)).toEqual(Float32Array.of(9));
    expect([...merged.names()]).toEqual(["unet.a", "vae.b"]);
  });

  it("cut rows out of a fused matrix", () => {
    const rows = sliceRows(base.get("x.y")!, "second", 1, 2);
    expect(readTensorFloats(rows)).toEqual(Float32Array.of(3, 4));
    expect(rows.shape).toEqual([1, 2]);
    expect(() => sliceRows(base.get("x.y")!, "none", 1, 3)).toThrow(/outside tensor/);
  });
});

function bfloats(name: string, floats: Float32Array): MemoryTensor {
  const bits = new Uint16Array(floats.length);
  new Uint32Array(floats.slice().buffer).forEach((word, i) => {
    bits[i] = word >>> 16;
  });
  return { name, dtype: "BF16", shape: [floats.length], data: new Uint8Array(bits.buffer) };
}
