import { describe, expect, it } from "vitest";
import { makeRecord } from "../../../testing/make-records.js";
import { type ApiRecord, useServer } from "../../../testing/use-server.js";

const day = (number: number) => 1_600_000_000 + number * 86_400;
const records = [
  makeRecord({ attributePath: "all", version: "1.0", lastCommitDate: day(1), firstCommitDate: day(0) }),
  makeRecord({ attributePath: "set.all", version: "1.0" }),
  makeRecord({ attributePath: "other", name: "All", version: "1.0" }),
  makeRecord({ attributePath: "allegro", version: "5.2" }),
  makeRecord({ attributePath: "set.allegro", version: "4.4" }),
  makeRecord({ attributePath: "ripgrep-all", version: "0.9" }),
  makeRecord({ attributePath: "ball", version: "2.0" }),
  makeRecord({ attributePath: "python313Packages.requests", version: "2.32.3", license: "Apache-2.0" }),
  makeRecord({
    attributePath: "Tool",
    version: "3.9",
    lastCommitDate: day(3),
    firstCommitDate: day(0),
    license: "MIT",
  }),
  makeRecord({
    attributePath: "tool",
    version: "3.10",
    lastCommitDate: day(2),
    firstCommitDate: day(0),
    license: "MIT, GPL-3.0",
  }),
  makeRecord({ attributePath: "tool", version: "3.1", lastCommitDate: day(5), firstCommitDate: day(0), license: null }),
  makeRecord({
    attributePath: "tool",
    version: "3.11.0RC1",
    lastCommitDate: day(5),
    firstCommitDate: day(4),
    license: "mit",
  }),
  ...Array.from({ length: 1200 }, (_, i) => makeRecord({ attributePath: `many.pkg${i}`, version: `${i}` })),
];
const server = useServer(records);
const paths = (data: ApiRecord[]) => data.map((record) => record.attribute_path);
const versions = (data: ApiRecord[]) => data.map((record) => record.version);

describe("GET /api/v1/search", () => {
  it("answers records with the fifteen fields in order, and meta", async () => {
    const answer = await server().get("search?q=requests");
    expect(Object.keys(answer)).toEqual(["data", "meta"]);
    expect(Object.keys(answer.data[0]!)).toEqual([
      "id",
      "attribute_path",
      "name",
      "version",
      "description",
      "license",
      "first_commit_hash",
      "first_commit_date",
      "last_commit_hash",
      "last_commit_date",
      "homepage",
      "maintainers",
      "platforms",
      "source_path",
      "known_vulnerabilities",
    ]);
    expect(answer.data[0]!).toMatchObject({
      attribute_path: "python313Packages.requests",
      name: "requests",
      license: "Apache-2.0",
      description: null,
      homepage: null,
      maintainers: null,
      first_commit_date: "2020-09-13T12:26:40Z",
    });
    expect(answer.data[0]!.first_commit_hash).toMatch(/^[0-9a-f]{40}$/);
    expect(answer.meta).toEqual({ total: 1, limit: 50, offset: 0, has_more: false });
  });

  it("orders by relevance: path, name or leaf, path prefix, leaf or name prefix, word start, substring", async () => {
    const { data } = await server().get("search?q=ALL");
    expect(paths(data)).toEqual(["all", "other", "set.all", "allegro", "set.allegro", "ripgrep-all", "ball"]);
    expect(paths((await server().get("search?q=all&sort=relevance")).data)).toEqual(paths(data));
  });

  it("sorts by date, newest first; ties by id", async () => {
    const { data } = await server().get("search?q=tool&sort=date");
    expect(versions(data)).toEqual(
      ["3.11.0RC1", "3.1", "3.9", "3.10"].sort((a, b) => versions(data).indexOf(a) - versions(data).indexOf(b)),
    );
    expect(data.map((record: ApiRecord) => record.last_commit_date)).toEqual(
      data
        .map((record: ApiRecord) => record.last_commit_date)
        .toSorted()
        .toReversed(),
    );
    expect(data[0]!.id).toBeLessThan(data[1]!.id);
  });

  it("sorts by version in Nix order: 3.9 before 3.10", async () => {
    expect(versions((await server().get("search?q=tool&sort=version")).data)).toEqual([
      "3.1",
      "3.9",
      "3.10",
      "3.11.0RC1",
    ]);
  });

  it("sorts by name by code point: upper case first", async () => {
    expect((await server().get("search?q=tool&sort=name")).data.map((record: ApiRecord) => record.name)[0]).toBe(
      "Tool",
    );
  });

  it.each(["relevance", "date", "version", "name"])(
    "reverse gives exactly the reversed list of sort=%s",
    async (sort) => {
      const ids = (data: ApiRecord[]) => data.map((record) => record.id);
      for (const flag of ["true", "1"]) {
        const forwards = await server().get(`search?q=pkg&sort=${sort}&limit=1000&offset=200`);
        const backwards = await server().get(`search?q=pkg&sort=${sort}&reverse=${flag}&limit=1000`);
        expect(ids(backwards.data)).toEqual(ids(forwards.data).toReversed());
      }
    },
  );

  it("filters by version prefix, whatever the case", async () => {
    expect(versions((await server().get("search?q=tool&version=3.1&sort=version")).data)).toEqual([
      "3.1",
      "3.10",
      "3.11.0RC1",
    ]);
    expect(versions((await server().get("search?q=tool&version=3.11.0rc")).data)).toEqual(["3.11.0RC1"]);
    expect((await server().get("search?q=tool&version=1.0")).data).toEqual([]);
    expect((await server().get("search?q=tool&version=")).meta?.total).toBe(4);
  });

  it("filters by licence substring, whatever the case; an unknown licence holds nothing", async () => {
    expect((await server().get("search?q=tool&license=mit")).meta?.total).toBe(3);
    expect((await server().get("search?q=tool&license=gpl")).meta?.total).toBe(1);
    expect((await server().get("search?q=tool&license=")).meta?.total).toBe(3);
  });

  it("exact compares path and name case-sensitively", async () => {
    expect(paths((await server().get("search?q=tool&exact=true&limit=1")).data)).toEqual(["tool"]);
    expect((await server().get("search?q=Tool&exact=1")).meta?.total).toBe(1);
    expect(paths((await server().get("search?q=All&exact=true")).data)).toEqual(["other"]);
    expect((await server().get("search?q=too&exact=true")).meta?.total).toBe(0);
    expect((await server().get("search?q=too&exact=false")).meta?.total).toBe(4);
  });

  it("walking pages shows every record once, and the total is exact", async () => {
    const seen = new Set<number>();
    for (let offset = 0; offset < 1300; offset += 170) {
      const { data, meta } = await server().get(`search?q=pkg&limit=170&offset=${offset}`);
      expect(meta).toEqual({ total: 1200, limit: 170, offset, has_more: offset + 170 < 1200 });
      for (const record of data) seen.add(record.id);
    }
    expect(seen.size).toBe(1200);
  });

  it("clamps a large limit and says so; limit 0 only counts", async () => {
    const large = await server().get("search?q=pkg&limit=99999999999999999999");
    expect(large.meta).toEqual({ total: 1200, limit: 1000, offset: 0, has_more: true });
    expect(large.data).toHaveLength(1000);
    expect(await server().get("search?q=pkg&limit=0")).toEqual({
      data: [],
      meta: { total: 1200, limit: 0, offset: 0, has_more: true },
    });
  });

  it("takes any offset up to 2^53-1", async () => {
    const { data, meta } = await server().get(`search?q=pkg&offset=${2 ** 53 - 1}`);
    expect(data).toEqual([]);
    expect(meta).toEqual({ total: 1200, limit: 50, offset: 2 ** 53 - 1, has_more: false });
    expect((await server().fail(`search?q=pkg&offset=${2n ** 53n}`)).status).toBe(400);
  });

  it("no match is 200 with nothing", async () => {
    expect(await server().get("search?q=no-such-thing")).toEqual({
      data: [],
      meta: { total: 0, limit: 50, offset: 0, has_more: false },
    });
  });

  it("takes 256 characters, also outside the first plane", async () => {
    expect((await server().get(`search?q=${"x".repeat(256)}`)).meta?.total).toBe(0);
    expect((await server().get(`search?q=${encodeURIComponent("😀".repeat(256))}`)).meta?.total).toBe(0);
  });

  it.each([
    ["search", ["q", "missing"]],
    ["search?q=", ["q"]],
    [`search?q=${"x".repeat(257)}`, ["q", "256"]],
    ["search?q=a%00b", ["q"]],
    ["search?q=a&limit=-1", ["limit", "-1"]],
    ["search?q=a&limit=ten", ["limit", "ten"]],
    ["search?q=a&limit=1.5", ["limit", "1.5"]],
    ["search?q=a&limit=%205", ["limit"]],
    ["search?q=a&limit=", ["limit"]],
    ["search?q=a&offset=1e3", ["offset", "1e3"]],
    ["search?q=a&exact=yes", ["exact", "yes", "true"]],
    ["search?q=a&reverse=TRUE", ["reverse", "TRUE"]],
    ["search?q=a&sort=size", ["sort", "size", "date", "version", "name"]],
    ["search?q=a&q=b", ["q"]],
    ["search?q=a&limit=1&limit=1", ["limit"]],
    ["search?q=%ff", ["q"]],
  ])("%s is 400 and names what is wrong", async (path, mentions) => {
    const error = await server().fail(path);
    expect(error).toMatchObject({ status: 400, code: "BAD_REQUEST" });
    for (const word of mentions) expect(error.message).toContain(word);
  });

  it("ignores parameters it does not know", async () => {
    expect((await server().get("search?q=requests&colour=blue&colour=red")).meta?.total).toBe(1);
  });

  it("has an ETag of index and address, answers 304, and allows caching of 200s only", async () => {
    const address = `${server().url}/api/v1/search?q=tool`;
    const first = await fetch(address);
    const etag = first.headers.get("etag")!;
    expect(etag).toMatch(/^"[^"]+"$/);
    expect(first.headers.get("cache-control")).toMatch(/^public, max-age=\d+$/);
    const again = await fetch(address, { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
    expect((await fetch(`${address}&limit=1`)).headers.get("etag")).not.toBe(etag);
    expect((await fetch(`${address}&limit=x`)).headers.get("cache-control")).toBeNull();
  });

  it("answers HEAD like GET without a body", async () => {
    const address = `${server().url}/api/v1/search?q=tool`;
    const [head, get] = await Promise.all([fetch(address, { method: "HEAD" }), fetch(address)]);
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
  });
});
