import { rename, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { writeIndex } from "../store/index.js";
import { makeRecord, NO_META } from "../testing/make-records.js";
import { useServer } from "../testing/use-server.js";

const edition = (number: number) =>
  Array.from({ length: 200 }, (_, i) => makeRecord({ attributePath: `tool${i}`, version: `${number}.0` }));
const metaOf = (number: number) => ({ ...NO_META, lastIndexedCommit: String(number % 10).repeat(40) });

describe("the index is replaced under a running server", () => {
  const server = useServer(edition(0), [], metaOf(0));

  it("the next request sees the new one, with another ETag; health and statistics too", async () => {
    const address = `${server().url}/api/v1/packages/tool1`;
    let before = await fetch(address);
    for (let number = 1; number < 8; number++) {
      await writeIndex(edition(number), metaOf(number), server().indexPath);
      const after = await fetch(address, { headers: { "if-none-match": before.headers.get("etag")! } });
      expect(after.status).toBe(200);
      expect(((await after.json()) as { data: { version: string }[] }).data[0]!.version).toBe(`${number}.0`);
      const health = (await (await fetch(`${server().url}/api/v1/health`)).json()) as { index_commit: string };
      expect(health.index_commit).toBe(String(number).repeat(40));
      before = after;
    }
  });

  it("a file that is no index is not taken; the old one goes on answering", async () => {
    const { url, indexPath } = server();
    await writeFile(`${indexPath}.new`, "this is no index");
    await rename(`${indexPath}.new`, indexPath);
    expect((await fetch(`${url}/api/v1/packages/tool1`)).status).toBe(200);
    expect(await (await fetch(`${url}/api/v1/health`)).json()).toMatchObject({ status: "ok" });
    await writeIndex(edition(9), metaOf(9), indexPath);
    expect((await server().get("packages/tool1")).data[0]!.version).toBe("9.0");
  });

  it("under load no request fails", async () => {
    const { url, indexPath } = server();
    let isOver = false;
    const statuses = new Map<number, number>();
    const askOn = async (path: string) => {
      while (!isOver) {
        const answer = await fetch(`${url}/api/v1/${path}`);
        const body = (await answer.json()) as { data?: unknown[] };
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        expect(body.data).toBeDefined();
      }
    };
    const paths = ["search?q=tool", "packages/tool7", "search/description?q=tool", "packages/tool3/history", "stats"];
    const askers = paths.flatMap((path) => [askOn(path), askOn(path)]);
    for (let number = 20; number < 32; number++) await writeIndex(edition(number), metaOf(number), indexPath);
    isOver = true;
    await Promise.all(askers);
    expect([...statuses.keys()]).toEqual([200]);
    expect(statuses.get(200)).toBeGreaterThan(50);
  });
});
