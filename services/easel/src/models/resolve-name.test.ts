import { describe, expect, test } from "vitest";
import type { KnownModel } from "./known-model.js";
import { resolveName } from "./resolve-name.js";

const model = (name: string, more: Partial<KnownModel> = {}): KnownModel => {
  const [base = "", variant = ""] = name.split(":");
  return {
    name,
    base,
    variant,
    aliases: [],
    recommended: false,
    family: base,
    kind: "image",
    description: "",
    license: "",
    source: "local",
    defaults: { width: 512, height: 512, steps: 20, guidance: 7 },
    recommendedSizes: [],
    downloaded: false,
    sizeBytes: 0,
    files: { name, path: "" },
    ...more,
  };
};

const models = [
  model("sd15:fp16", { recommended: true, aliases: ["stable-diffusion-v1-5"] }),
  model("sd15:q8", { downloaded: true, aliases: ["stable-diffusion-v1-5"] }),
  model("sd21:fp16", { recommended: true }),
  model("sd21:q4"),
];

describe("resolveName", () => {
  test.each([
    ["sd15:fp16", "sd15:fp16", "a full name"],
    ["SD15:Q8", "sd15:q8", "any case"],
    ["sd15", "sd15:q8", "the downloaded variant of a bare name"],
    ["sd21", "sd21:fp16", "the recommended variant when none is downloaded"],
    ["stable-diffusion-v1-5", "sd15:q8", "an alias"],
    [" sd21 ", "sd21:fp16", "spaces around it"],
  ])("%s is %s: %s", (asked, name) => {
    expect(resolveName(asked, models).name).toBe(name);
  });

  test("an unknown variant names those there are", () => {
    expect(() => resolveName("sd15:q5", models)).toThrow(/no model 'sd15:q5'.*'sd15:fp16'.*'sd15:q8'/);
  });

  test("a slip gets near names, nonsense a way to look them up", () => {
    expect(() => resolveName("sd51", models)).toThrow(/Did you mean .*sd15/);
    expect(() => resolveName("zzzzzzzzz", models)).toThrow(/api\/models/);
    expect(() => resolveName("", models)).toThrow(/There is no model ''/);
  });
});
