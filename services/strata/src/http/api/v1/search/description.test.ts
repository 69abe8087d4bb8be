import { describe, expect, it } from "vitest";
import { makeRecord } from "../../../../testing/make-records.js";
import { type ApiRecord, useServer } from "../../../../testing/use-server.js";

const records = [
  makeRecord({ attributePath: "jq", version: "1.5", description: "Old words" }),
  makeRecord({ attributePath: "jq", version: "1.10", description: "Command-line JSON processor" }),
  makeRecord({ attributePath: "jq", version: "1.9", description: "Old words" }),
  makeRecord({ attributePath: "json", version: "1", description: "A module" }),
  makeRecord({
    attributePath: "parser",
    version: "1",
    description: "Reads JSON with several libraries, line by command",
  }),
  makeRecord({ attributePath: "cafe", version: "1", description: "Café résumé naïve" }),
  makeRecord({ attributePath: "plain", version: "1", description: null }),
];
const server = useServer(records);
const find = async (q: string, more = "") =>
  (await server().get(`search/description?q=${encodeURIComponent(q)}${more}`)).data.map(
    (record: ApiRecord) => record.attribute_path,
  );

describe("GET /api/v1/search/description", () => {
  it("answers one record per package, its newest version, with meta", async () => {
    const { data, meta } = await server().get("search/description?q=processor");
    expect(data).toHaveLength(1);
    expect(data[0]!).toMatchObject({ attribute_path: "jq", version: "1.10" });
    expect(Object.keys(data[0]!)).toHaveLength(15);
    expect(meta).toEqual({ total: 1, limit: 50, offset: 0, has_more: false });
    expect(await find("old words")).toEqual([]);
  });

  it("requires all words, in the name or the description, by stem", async () => {
    expect(await find("json library")).toEqual(["parser"]);
    expect((await find("json")).sort()).toEqual(["jq", "json", "parser"]);
    expect(await find("json processors")).toEqual(["jq"]);
    expect(await find("json nothing")).toEqual([]);
    expect(await find("json JSON json json")).toEqual(await find("json"));
  });

  it("ranks a name above a description", async () => {
    expect((await find("json"))[0]).toBe("json");
  });

  it("folds diacritics both ways", async () => {
    expect(await find("cafe")).toEqual(["cafe"]);
    expect(await find("RÉSUMÉ")).toEqual(["cafe"]);
    expect(await find("naive")).toEqual(["cafe"]);
  });

  it("keeps quoted phrases together", async () => {
    expect((await find("command line")).sort()).toEqual(["jq", "parser"]);
    expect(await find('"command line"')).toEqual(["jq"]);
    expect(await find('"line by command"')).toEqual(["parser"]);
  });

  it("takes the last word by prefix, no other", async () => {
    expect(await find("json proc")).toEqual(["jq"]);
    expect(await find("proc json")).toEqual([]);
    expect(await find('"json proc"')).toEqual([]);
  });

  it.each(['"', '""', "AND", "json* OR ((", "-json", "name:json", "NEAR(a b)", "!!!", "^", "\\"])(
    "never interprets %s",
    async (q) => {
      expect((await fetch(`${server().url}/api/v1/search/description?q=${encodeURIComponent(q)}`)).status).toBe(200);
    },
  );

  it("pages and counts", async () => {
    const { data, meta } = await server().get("search/description?q=json&limit=1&offset=1");
    expect(data).toHaveLength(1);
    expect(meta).toEqual({ total: 3, limit: 1, offset: 1, has_more: true });
    expect((await server().get("search/description?q=json&limit=5000")).meta?.limit).toBe(1000);
  });

  it.each([
    "search/description",
    "search/description?q=",
    "search/description?q=a%00",
    "search/description?q=a&limit=x",
  ])("%s is 400", async (path) => {
    expect(await server().fail(path)).toMatchObject({ status: 400, code: "BAD_REQUEST" });
  });
});
