import { expect, test } from "vitest";
import { MAX_AREA, MAX_SIDE, MIN_SIDE, SIDE_MULTIPLE } from "../../contract/limits.js";
import { languageModels } from "../../expand/catalogue.js";
import { partsOf } from "../model-store.js";
import { catalogue } from "./catalogue.js";

const all = [...catalogue, ...languageModels];

test("names and aliases are unique and well-formed", () => {
  const names = all.flatMap((model) => [model.name, ...(model.aliases ?? [])]);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9._-]*$/);
  for (const model of all) {
    const variants = model.variants.map(({ variant }) => variant);
    expect(new Set(variants).size).toBe(variants.length);
    expect(variants).toContain(model.recommended);
  }
});

test("every family the product promises is there", () => {
  const names = catalogue.map(({ name }) => name);
  for (const name of [
    "doodle",
    "sd15",
    "sd21",
    "sd-turbo",
    "sdxl",
    "sdxl-turbo",
    "sdxl-lightning",
    "sd15-lcm",
    "dreamshaper-8",
    "taesd",
  ]) {
    expect(names).toContain(name);
  }
});

test("files stay inside their folders, hashes look like hashes, equal folders mean equal files", () => {
  const folders = new Map<string, string>();
  for (const part of all.flatMap(({ variants }) => variants.flatMap(partsOf))) {
    for (const file of part.files) {
      for (const path of [part.folder, file.path, file.saveAs ?? file.path]) expect(path).not.toMatch(/^\/|\.\.|\\/);
      if (file.sha256) expect(file.sha256).toMatch(/^[0-9a-f]{64}$/);
    }
    const contents = JSON.stringify([part.repository, part.files]);
    expect(folders.get(part.folder) ?? contents).toBe(contents);
    folders.set(part.folder, contents);
  }
});

test("defaults and recommended sizes are sizes the API takes", () => {
  for (const { kind, defaults, recommendedSizes } of catalogue) {
    if (kind !== "image") continue;
    for (const [width, height] of [[defaults.width, defaults.height] as const, ...recommendedSizes]) {
      for (const side of [width, height]) {
        expect(side % SIDE_MULTIPLE).toBe(0);
        expect(side).toBeGreaterThanOrEqual(MIN_SIDE);
        expect(side).toBeLessThanOrEqual(MAX_SIDE);
      }
      expect(width * height).toBeLessThanOrEqual(MAX_AREA);
    }
  }
});
