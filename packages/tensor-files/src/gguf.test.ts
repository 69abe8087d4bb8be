import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openGguf } from "./gguf.js";
import { readTensorFloats } from "./read-tensor.js";
import { openSafetensors } from "./safetensors.js";
import { TensorFileError } from "./tensor-file-error.js";

const FIXTURES = path.join(import.meta.dirname, "../fixtures");
const BLOCKS = path.join(FIXTURES, "blocks.gguf");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "gguf-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function openBytes(bytes: Uint8Array, name = "case.gguf"): Promise<unknown> {
  const file = path.join(folder, name);
  await writeFile(file, bytes);
  return openGguf(file);
}

describe("openGguf", () => {
  it("expands every block type as the gguf package does", async () => {
    const file = await openGguf(BLOCKS);
    const expected = await openSafetensors(path.join(FIXTURES, "blocks.safetensors"));
    for (const name of expected.names()) {
      const tensor = file.get(name)!;
      expect(tensor.shape, name).toEqual(expected.get(name)!.shape);
      const wanted = readTensorFloats(expected.get(name)!);
      readTensorFloats(tensor).forEach((value, i) => {
        // the reference multiplies in single precision step by step
        if (Math.abs(value - wanted[i]!) > 1e-6 * Math.max(1, Math.abs(wanted[i]!))) {
          expect.fail(`${name}[${i}] is ${value}, should be ${wanted[i]}`);
        }
      });
    }
  });

  it("reads metadata", async () => {
    const { metadata } = await openGguf(BLOCKS);
    expect(metadata.get("general.name")).toBe("one tensor of each type");
    expect(metadata.get("test.words")).toEqual(["a", "bc", ""]);
    expect(metadata.get("test.large")).toBe(2n ** 40n);
  });

  it("names the tensor where the file is truncated", async () => {
    const bytes = await readFile(BLOCKS);
    await expect(openBytes(bytes.subarray(0, bytes.length - 100))).rejects.toThrow(/tensor 'F16'.*truncated/);
    await expect(openBytes(bytes.subarray(0, 90))).rejects.toThrow(/truncated/);
  });

  it("refuses other files and versions", async () => {
    await expect(openBytes(Buffer.from("PK\x03\x04 zip"))).rejects.toThrow(/zip archive/);
    const old = await readFile(BLOCKS);
    old.writeUInt32LE(1, 4);
    await expect(openBytes(old)).rejects.toThrow(/version 1/);
  });

  it("refuses counts that the file cannot hold before it allocates for them", async () => {
    const bytes = await readFile(BLOCKS);
    bytes.writeBigUInt64LE(2n ** 52n, 8);
    await expect(openBytes(bytes)).rejects.toThrow(/more than it can hold/);
  });

  it("never fails otherwise than with its own error, whatever bytes are changed", async () => {
    const good = await readFile(BLOCKS);
    const header = 1200;
    const change = fc.record({ at: fc.integer({ min: 4, max: header }), value: fc.integer({ min: 0, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
        const bytes = Buffer.from(good);
        for (const { at, value } of changes) bytes[at] = value;
        try {
          await openBytes(bytes, "fuzz.gguf");
        } catch (error) {
          if (!(error instanceof TensorFileError)) throw error;
        }
      }),
      { numRuns: 300 },
    );
  });
});
