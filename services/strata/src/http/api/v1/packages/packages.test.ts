import type { Static } from "typebox";
import { describe, expect, it } from "vitest";
import type { HistoryEntry as HistoryEntrySchema } from "../../../../contract/schemas.js";
import { makeRecord } from "../../../../testing/make-records.js";
import { type ApiRecord, useServer } from "../../../../testing/use-server.js";

type HistoryEntry = Static<typeof HistoryEntrySchema>;

const day = (number: number) => 1_600_000_000 + number * 86_400;
const range = (version: string, first: number, last: number, more = {}) =>
  makeRecord({ attributePath: "firefox", version, firstCommitDate: day(first), lastCommitDate: day(last), ...more });
const records = [
  range("3.10", 40, 50),
  range("3.9", 30, 50),
  range("2.0", 10, 20, { license: "MIT", knownVulnerabilities: ["CVE-1"] }),
  range("2.0", 24, 28, { license: "GPL-2.0" }),
  range("1.0", 0, 9),
  range("1.0pre", 0, 9),
  makeRecord({ attributePath: "other", version: "1.0", knownVulnerabilities: ["CVE-2"] }),
  makeRecord({ attributePath: "empty-list", version: "1", knownVulnerabilities: [] }),
  makeRecord({ attributePath: "a/b", version: "1/2" }),
  makeRecord({ attributePath: "päckchen", version: "ß" }),
  makeRecord({ attributePath: "versioned", version: "first" }),
  makeRecord({ attributePath: "100%", version: "50% off" }),
];
const server = useServer(records);
const versions = (data: readonly { version: string }[]) => data.map(({ version }) => version);

describe("GET /api/v1/packages/{attr}", () => {
  it("answers all records, newest last commit first, then newest version, without meta", async () => {
    const answer = await server().get("packages/firefox");
    expect(Object.keys(answer)).toEqual(["data"]);
    expect(versions(answer.data)).toEqual(["3.10", "3.9", "2.0", "2.0", "1.0", "1.0pre"]);
    expect(Object.keys(answer.data[0]!)).toHaveLength(15);
  });

  it("decodes the segment once, as UTF-8", async () => {
    expect((await server().get("packages/a%2Fb")).data).toHaveLength(1);
    expect((await server().get("packages/p%C3%A4ckchen")).data).toHaveLength(1);
    expect((await server().get("packages/100%25")).data).toHaveLength(1);
    expect((await server().fail("packages/a%252Fb")).status).toBe(404);
  });

  it("compares case-sensitively", async () => {
    expect(await server().fail("packages/Firefox")).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });

  it("an unknown package is 404, named, with near names", async () => {
    const error = await server().fail("packages/fierfox");
    expect(error).toMatchObject({ status: 404, code: "NOT_FOUND" });
    expect(error.message).toMatch(/^Package 'fierfox' not found/);
    expect(error.message).toContain("'firefox'");
    expect((await server().fail("packages/qqqqqqqqqq")).message).toBe("Package 'qqqqqqqqqq' not found");
  });
});

describe("GET /api/v1/packages/{attr}/versions/{version}", () => {
  it("answers all records of the version, ranges kept apart", async () => {
    const answer = await server().get("packages/firefox/versions/2.0");
    expect(Object.keys(answer)).toEqual(["data"]);
    expect(answer.data).toHaveLength(2);
    expect(answer.data[0]!.last_commit_date > answer.data[1]!.last_commit_date).toBe(true);
  });

  it("decodes both segments", async () => {
    expect((await server().get("packages/a%2Fb/versions/1%2F2")).data).toHaveLength(1);
    expect((await server().get("packages/100%25/versions/50%25%20off")).data).toHaveLength(1);
    expect((await server().get("packages/p%C3%A4ckchen/versions/%C3%9F")).data).toHaveLength(1);
  });

  it("versions/first asks for a version called first", async () => {
    expect(versions((await server().get("packages/versioned/versions/first")).data)).toEqual(["first"]);
    expect((await server().fail("packages/firefox/versions/first")).message).toMatch(
      /^Version 'first' of package 'firefox' not found/,
    );
  });

  it("an unknown version is 404 and names up to three near ones", async () => {
    const error = await server().fail("packages/firefox/versions/3");
    expect(error).toMatchObject({ status: 404, code: "NOT_FOUND" });
    expect(error.message).toBe("Version '3' of package 'firefox' not found. Near versions: '3.10', '3.9', '2.0'");
    expect((await server().fail("packages/firefox/versions/3.10.0")).status).toBe(404);
    expect((await server().fail("packages/nothing-like-it/versions/3")).message).toMatch(
      /^Package 'nothing-like-it' not found/,
    );
  });

  it("first is the earliest first commit, last the latest last commit, both objects", async () => {
    const first = await server().get("packages/firefox/versions/2.0/first");
    const last = await server().get("packages/firefox/versions/2.0/last");
    expect(Object.keys(first)).toEqual(["data"]);
    expect(first.data).toMatchObject({ version: "2.0", license: "MIT" });
    expect(last.data).toMatchObject({ version: "2.0", license: "GPL-2.0" });
    expect((await server().fail("packages/firefox/versions/9/first")).status).toBe(404);
    expect((await server().fail("packages/firefox/versions/9/last")).status).toBe(404);
    expect((await server().get<ApiRecord>("packages/versioned/versions/first/first")).data.version).toBe("first");
  });
});

describe("GET /api/v1/packages/{attr}/history", () => {
  it("has one entry a version, newest first seen first, then newest version", async () => {
    const answer = await server().get<HistoryEntry[]>("packages/firefox/history");
    expect(Object.keys(answer)).toEqual(["data"]);
    expect(versions(answer.data)).toEqual(["3.10", "3.9", "2.0", "1.0", "1.0pre"]);
    expect(answer.data[2]).toEqual({
      version: "2.0",
      first_seen: "2020-09-23T12:26:40Z",
      last_seen: "2020-10-11T12:26:40Z",
      is_insecure: true,
    });
  });

  it("is insecure only by this package's own records", async () => {
    const { data } = await server().get<HistoryEntry[]>("packages/firefox/history");
    expect(data.find(({ version }) => version === "1.0")).toMatchObject({ is_insecure: false });
    expect((await server().get("packages/other/history")).data[0]).toMatchObject({ is_insecure: true });
    expect((await server().get("packages/empty-list/history")).data[0]).toMatchObject({ is_insecure: false });
  });

  it("an unknown package is 404", async () => {
    expect(await server().fail("packages/nothing/history")).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });
});
