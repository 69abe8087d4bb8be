import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClipTokenizer, openClipTokenizer } from "./clip-tokenizer.js";

const fixtures = fileURLToPath(new URL("../../fixtures/tokenizers/", import.meta.url));
const rows = JSON.parse(await readFile(join(fixtures, "tiny-clip-ids.json"), "utf8")) as {
  text: string;
  ids: number[];
}[];

describe("CLIP tokenizer", () => {
  let tokenizer: ClipTokenizer;
  let folder: string;
  beforeAll(async () => {
    tokenizer = await openClipTokenizer(join(fixtures, "tiny-clip"));
    folder = await mkdtemp(join(tmpdir(), "tokenizer-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(rows.map((row) => [JSON.stringify(row.text), row] as const))("gives transformers' ids for %s", (_, row) => {
    expect([tokenizer.startToken, ...tokenizer.encodeText(row.text), tokenizer.endToken]).toEqual(row.ids);
  });

  it("never throws and never leaves the vocabulary", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        for (const id of tokenizer.encodeText(text)) expect(id).toBeLessThanOrEqual(tokenizer.endToken);
      }),
    );
  });

  it("pads with the end token unless a pad token is named", async () => {
    expect(tokenizer.padToken).toBe(tokenizer.endToken);
    for (const file of ["vocab.json", "merges.txt"]) {
      await writeFile(join(folder, file), await readFile(join(fixtures, "tiny-clip", file)));
    }
    await writeFile(join(folder, "special_tokens_map.json"), JSON.stringify({ pad_token: "!" }));
    const second = await openClipTokenizer(folder);
    expect(second.padToken).toBe(0);
    expect(second.maxLength).toBe(77);
  });

  it("explains a folder without a tokenizer and broken files", async () => {
    await expect(openClipTokenizer(join(fixtures, "absent"))).rejects.toThrow("expected vocab.json and merges.txt");
    const broken = await mkdtemp(join(tmpdir(), "tokenizer-"));
    await writeFile(join(broken, "vocab.json"), "{");
    await writeFile(join(broken, "merges.txt"), "");
    await expect(openClipTokenizer(broken)).rejects.toThrow("vocab.json: not valid JSON");
    await writeFile(join(broken, "vocab.json"), '{"a": 0}');
    await expect(openClipTokenizer(broken)).rejects.toThrow("lacks <|startoftext|>");
    await rm(broken, { recursive: true });
  });
});
