import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkRoute, crossCuttingSuite, type RunningProgram, startProgram } from "@kit/http-kernel/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { errors } from "../contract/errors.js";
import { routes } from "../contract/routes.js";

const PROGRAM = fileURLToPath(new URL("../../bin/strata.js", import.meta.url));

/** A home of its own without an index, so that the built-in sample is served. */
let home = "";
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "strata-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

function start(flags: readonly string[]): Promise<RunningProgram> {
  return startProgram({
    command: process.execPath,
    args: [PROGRAM, "serve", "--port", "0", ...flags],
    env: { HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, XDG_STATE_HOME: home },
  });
}

crossCuttingSuite({
  name: "strata serve",
  start,
  health: "/api/v1/health",
  docs: { page: "/docs", document: "/openapi.json" },
  get: "/api/v1/stats",
  parameterPrefix: "/api/v1/packages/",
  cacheable: "/api/v1/search?q=a",
  large: "/api/v1/search?q=a&limit=100",
  invalid: {
    path: "/api/v1/search?q=a&limit=ten",
    status: 400,
    code: "BAD_REQUEST",
    mentions: ["limit", "'ten'", "plain decimal digits"],
  },
});

describe("whatever is asked, the answers stay within their declaration", () => {
  let program: RunningProgram;
  let attr: string[] = [];
  let version: string[] = [];
  beforeAll(async () => {
    program = await start(["--log-level", "warn"]);
    const page = (await (await fetch(`${program.url}/api/v1/search?q=a&limit=20`)).json()) as {
      data: { attribute_path: string; version: string }[];
    };
    attr = page.data.map((record) => record.attribute_path);
    version = page.data.map((record) => record.version);
  });
  afterAll(async () => {
    await program.stop();
  });
  it.each(Object.entries(routes))("%s", async (_, route) => {
    await checkRoute(route, { baseUrl: program.url, errors, known: { attr, version, q: ["a", "py", ...attr] } });
  });
});
