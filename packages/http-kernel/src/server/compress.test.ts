import { describe, expect, it } from "vitest";
import { chooseEncoding, compress, isCompressible } from "./compress.js";

describe("chooseEncoding", () => {
  it.each([
    [undefined, undefined],
    ["", undefined],
    ["identity", undefined],
    ["gzip", "gzip"],
    ["gzip, deflate, br", "br"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br;q=0, gzip;q=0", undefined],
    ["GZIP;Q=0.5", "gzip"],
    ["gzip;q=nonsense", undefined],
    ["*", undefined],
  ])("%s: %s", (header, encoding) => expect(chooseEncoding(header)).toBe(encoding));
});

describe("compress", () => {
  it("makes each form of a Buffer once", async () => {
    const bytes = Buffer.alloc(5000, "a");
    const first = compress(bytes, "gzip");
    expect(compress(bytes, "gzip")).toBe(first);
    expect((await first)?.length).toBeLessThan(500);
  });
  it("knows what shrinks", () => {
    expect(
      ["application/json", "text/html; charset=utf-8", "image/svg+xml", "application/problem+json"].every(
        isCompressible,
      ),
    ).toBe(true);
    expect(["image/png", "text/event-stream", "application/zip", "application/octet-stream"].some(isCompressible)).toBe(
      false,
    );
  });
});
