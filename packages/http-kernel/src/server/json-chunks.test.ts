import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { serializeInChunks } from "./json-chunks.js";

async function collect(value: unknown): Promise<{ text: string; pieces: number }> {
  const pieces: Buffer[] = [];
  for await (const piece of serializeInChunks(value)) pieces.push(Buffer.from(piece));
  return { text: Buffer.concat(pieces).toString(), pieces: pieces.length };
}

describe("serializeInChunks", () => {
  it("writes bytes as integers wherever they stand", async () => {
    const { text } = await collect({
      a: [{ data: new Uint8Array([0, 9, 10, 99, 100, 255]), n: 1 }],
      b: "x",
      c: undefined,
      d: null,
    });
    expect(JSON.parse(text)).toEqual({ a: [{ data: [0, 9, 10, 99, 100, 255], n: 1 }], b: "x", d: null });
  });
  it("agrees with JSON.stringify for any value and any bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.uint8Array({ maxLength: 2000 }), async (value, bytes) => {
        const { text } = await collect({ value, images: [{ bytes }, bytes], last: value });
        const list = Array.from(bytes);
        expect(text).toBe(JSON.stringify({ value, images: [{ bytes: list }, list], last: value }));
      }),
      { numRuns: 50 },
    );
  });
  it("cuts megabytes into many slices and lets the event loop turn between them", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const bytes = new Uint8Array(1_000_000).map((_, index) => index % 256);
    const { text, pieces } = await collect({ bytes });
    clearInterval(timer);
    expect(JSON.parse(text).bytes).toHaveLength(bytes.length);
    expect(pieces).toBeGreaterThan(10);
    expect(turns).toBeGreaterThan(1);
  });
});
