import { describe, expect, it } from "vitest";
import { writeIndex } from "../store/index.js";
import { makeRecord, NO_META } from "../testing/make-records.js";
import { useServer } from "../testing/use-server.js";

describe("several processes on one port", () => {
  const server = useServer([makeRecord({ attributePath: "a", version: "1" })], ["--workers", "2"]);

  it("all answer, all see a new index, and all end on SIGTERM with exit code 0", async () => {
    const versions = async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => server().get("packages/a")));
      return new Set(answers.map(({ data }) => data[0]!.version));
    };
    expect(await versions()).toEqual(new Set(["1"]));
    await writeIndex([makeRecord({ attributePath: "a", version: "2" })], NO_META, server().indexPath);
    expect(await versions()).toEqual(new Set(["2"]));
    expect(await server().program.stop()).toBe(0);
    await expect(fetch(`${server().url}/api/v1/health`)).rejects.toThrow();
  });
});
