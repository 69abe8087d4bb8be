import { describe, expect, it } from "vitest";
import { readTemplates, templateFor } from "./templates.js";

describe("templates", () => {
  it("are chosen by the model's family, with a default", () => {
    const templates = readTemplates(undefined);
    expect(templateFor(templates, "doodle")).toMatchObject({ manner: "doodle", world: "doodle" });
    expect(templateFor(templates, "flux").manner).toBe("prose");
    expect(templateFor(templates, "something new")).toEqual(templateFor(templates, "default"));
  });

  it("are replaced field by field by the configuration", () => {
    const templates = readTemplates({ sdxl: { max_words: 30, instruction: "Be short." }, mine: { manner: "prose" } });
    expect(templateFor(templates, "sdxl")).toMatchObject({ maxWords: 30, instruction: "Be short.", manner: "tags" });
    expect(templateFor(templates, "mine")).toMatchObject({
      manner: "prose",
      maxWords: templateFor(templates, "default").maxWords,
    });
    expect(templateFor(templates, "sd15")).toEqual(templateFor(readTemplates(undefined), "sd15"));
  });

  it.each([
    [{ sdxl: { max_words: 1 } }, /expand\.templates\.sdxl\.max_words.*5 to 400.*given: 1/],
    [{ sdxl: { words: 30 } }, /expand\.templates\.sdxl\.words.*not known.*max_words/],
    [{ sdxl: { manner: "poem" } }, /must be one of doodle, tags, prose/],
    [{ sdxl: 3 }, /must be a table/],
    ["x", /must be a table/],
  ])("refuses %j", (table, message) => {
    expect(() => readTemplates(table)).toThrow(message);
  });
});
