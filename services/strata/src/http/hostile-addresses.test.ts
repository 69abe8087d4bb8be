import { rawRequest } from "@kit/http-kernel/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeRecord } from "../testing/make-records.js";
import { useServer } from "../testing/use-server.js";

const server = useServer([
  makeRecord({ attributePath: "a.b", version: "1" }),
  makeRecord({ attributePath: "..", version: "." }),
]);

async function statusOf(target: string): Promise<number> {
  const answer = await rawRequest(
    server().program.port,
    `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );
  return answer.status;
}

const fragment = fc.constantFrom(
  "%", "%2", "%zz", "%00", "%ff%fe", "%c3%28", "%2F", "%2f..%2f", "..", "%2e%2e", ".", "//", "\\", "😀", "%F0%9F%98%80", "é", "+",
  "&", "=", "?", "#", ";", "'", '"', "<script>", "{attr}", "*", "null", "a", "1", "-1", "9".repeat(40), "true", "x".repeat(300),
); // biome-ignore format: a list
const target = fc
  .tuple(
    fc.constantFrom(
      "/",
      "/api/v1/",
      "/api/v1/search?q=",
      "/api/v1/search?",
      "/api/v1/search/description?q=",
      "/api/v1/packages/",
      "/api/v1/packages/a.b/versions/",
      "/api/v1/packages/a.b/",
      "/docs/",
      "/openapi.json",
      "/api/v1/search?q=a&version=",
      "/api/v1/search?q=a&license=",
      "/api/v1/search?q=a&sort=",
      "/api/v1/search?q=a&offset=",
    ),
    fc.array(fragment, { maxLength: 6 }),
  )
  .map(([start, rest]) => Buffer.from(start + rest.join(""), "utf8").toString("latin1"));

describe("addresses nobody should send", () => {
  it("never give a 5xx", async () => {
    await fc.assert(
      fc.asyncProperty(target, async (address) => {
        const status = await statusOf(address.replaceAll(/[\r\n ]/g, ""));
        expect(status, address).toBeGreaterThanOrEqual(200);
        expect(status, address).toBeLessThan(500);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ["a query of 64 KB", `/api/v1/search?q=${"a".repeat(65_536)}`, 414],
    ["bad percent-encoding in a path", "/api/v1/packages/%E0%A4%A", 400],
    ["bad percent-encoding in a query", "/api/v1/search?q=%E0%A4%A", 400],
    ["a NUL in a query", "/api/v1/search?q=%00", 400],
    ["a NUL in a path", "/api/v1/packages/a%00b", 404],
    ["a path that climbs", "/api/v1/packages/../../../etc/passwd", 404],
    ["an encoded path that climbs", "/api/v1/packages/..%2F..%2Fetc%2Fpasswd", 404],
    ["emoji", `/api/v1/packages/${encodeURIComponent("😀")}`, 404],
  ])("%s", async (_, address, status) => {
    expect(await statusOf(address)).toBe(status);
  });
});
