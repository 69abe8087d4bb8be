import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeIndex } from "../../../store/index.js";
import { makeFolder, makeRecord, NO_META } from "../../../testing/make-records.js";
import { startStrata } from "../../../testing/start-strata.js";
import { useServer } from "../../../testing/use-server.js";

const COMMIT = "c".repeat(40);
const records = [
  makeRecord({ attributePath: "a", version: "1", firstCommitDate: 1_600_000_000, lastCommitDate: 1_600_000_001 }),
  makeRecord({ attributePath: "set.a", version: "2", firstCommitDate: 1_599_999_999, lastCommitDate: 1_700_000_000 }),
  makeRecord({ attributePath: "b", version: "2" }),
];
const server = useServer(records, [], { lastIndexedCommit: COMMIT, lastIndexedDate: 1_700_000_100, sample: true });

describe("GET /api/v1/stats", () => {
  it("answers the statistics of the index, and says when it is the sample", async () => {
    expect(await server().get("stats")).toEqual({
      data: {
        total_ranges: 3,
        unique_names: 2,
        unique_versions: 2,
        oldest_commit_date: "2020-09-13T12:26:39Z",
        newest_commit_date: "2023-11-14T22:13:20Z",
        last_indexed_commit: COMMIT,
        last_indexed_date: "2023-11-14T22:15:00Z",
        sample: true,
      },
    });
  });
});

describe("GET /api/v1/health", () => {
  it("is not wrapped, not cached, and names version and commit", async () => {
    const answer = await fetch(`${server().url}/api/v1/health`);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const body = (await answer.json()) as Record<string, string>;
    expect(Object.keys(body)).toEqual(["status", "version", "index_commit"]);
    expect(body).toMatchObject({ status: "ok", index_commit: COMMIT });
    expect(body["version"]).toMatch(/^\d+\.\d+\.\d+/);
  });

  it("is degraded without an index; everything else is 503 until one appears", async () => {
    const folder = await makeFolder();
    const path = join(folder, "index.strata");
    const program = await startStrata(path);
    try {
      const health = await fetch(`${program.url}/api/v1/health`);
      expect(health.status).toBe(200);
      expect(await health.json()).toMatchObject({ status: "degraded", index_commit: null });
      for (const asked of ["stats", "search?q=a", "search/description?q=a", "packages/a", "packages/a/history"]) {
        const answer = await fetch(`${program.url}/api/v1/${asked}`);
        expect(answer.status).toBe(503);
        expect(await answer.json()).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
      }
      expect((await fetch(`${program.url}/api/v1/search?q=`)).status).toBe(400);
      await writeIndex(records, NO_META, path);
      expect((await fetch(`${program.url}/api/v1/packages/a`)).status).toBe(200);
      expect(await (await fetch(`${program.url}/api/v1/health`)).json()).toMatchObject({ status: "ok" });
    } finally {
      expect(await program.stop()).toBe(0);
      await rm(folder, { recursive: true });
    }
  });
});
