import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MalformedPackageListError, PackageEntryScanner } from "./scan-package-entries.js";

function scan(chunks: Iterable<Uint8Array>): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const scanner = new PackageEntryScanner(({ bytes, keyStart, keyEnd, valueStart, valueEnd }) => {
    const key = JSON.parse(bytes.toString("utf8", keyStart - 1, keyEnd + 1)) as string;
    found.set(key, JSON.parse(bytes.toString("utf8", valueStart, valueEnd)));
  });
  for (const chunk of chunks) {
    scanner.push(chunk);
  }
  scanner.end();
  return found;
}

function* cut(text: string, sizes: readonly number[]): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const attribute = fc
  .string({ unit: "binary", minLength: 1 })
  .filter((key) => !["packages", "version", "__proto__"].includes(key));
const entry = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()).map((value) => ({ ...value }));
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

describe("scanning a package list", () => {
  it("finds what JSON.parse finds, however the bytes are cut, bare or in an envelope, indented or not", () => {
    fc.assert(
      fc.property(
        fc.dictionary(attribute, entry),
        sizes,
        fc.constantFrom("bare", "first", "last"),
        fc.constantFrom(0, 2),
        (packages, cuts, shape, indent) => {
          const whole =
            shape === "bare" ? packages : shape === "first" ? { version: 2, packages } : { packages, version: 2 };
          const text = JSON.stringify(whole, null, indent);
          const expected = (shape === "bare" ? JSON.parse(text) : JSON.parse(text).packages) as Record<string, unknown>;
          expect(Object.fromEntries(scan(cut(text, cuts)))).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("refuses a list that is cut off, at any byte", () => {
    const text = JSON.stringify({
      packages: { a: { name: 'a "quoted" \\ name', meta: { list: [1, "}"] } }, b: {} },
      version: 2,
    });
    for (let length = 0; length < text.length; length++) {
      expect(() => scan(cut(text.slice(0, length), [7]))).toThrow(MalformedPackageListError);
    }
    expect(scan(cut(text, [7])).size).toBe(2);
  });

  it.each([
    ["<html>", "does not start with an object"],
    ["[]", "does not start with an object"],
    ['{"packages":{"a":3}}', 'entry "a" is not an object'],
    ['{"a" {}}', "expected a colon"],
    ["{a:{}}", "expected a quoted key"],
    ['{"a":{}} {', "something follows"],
    ['{"version":3,"packages":{}}', "format version 3"],
  ])("says what is wrong with %s", (text, message) => {
    expect(() => scan(cut(text, [3]))).toThrow(message);
  });

  it("reads an entry far larger than the buffer", () => {
    const long = "x".repeat(9_000_000);
    const text = JSON.stringify({ big: { meta: { description: long } }, after: { name: "b" } });
    expect([...scan(cut(text, [65_536])).keys()]).toEqual(["big", "after"]);
  });
});
