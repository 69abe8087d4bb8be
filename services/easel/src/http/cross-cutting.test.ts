import { fileURLToPath } from "node:url";
import { crossCuttingSuite, startProgram } from "@kit/http-kernel/testing";
import { afterAll, beforeAll } from "vitest";
import { MAX_BODY_BYTES } from "../contract/limits.js";
import { createTestFolders, type TestFolders } from "../testing/start-easel.js";

let folders: TestFolders;
beforeAll(async () => {
  folders = await createTestFolders();
});
afterAll(() => folders.remove());

crossCuttingSuite({
  name: "easel serve",
  start: (flags) =>
    startProgram({
      command: process.execPath,
      args: [fileURLToPath(new URL("../../bin/easel.js", import.meta.url)), "serve", "--port", "0", ...flags],
      env: folders.env,
      startMs: 60_000,
    }),
  health: "/health",
  docs: { page: "/api/docs", document: "/api/openapi.json" },
  get: "/api/status",
  parameterPrefix: "/api/jobs/",
  large: "/api/models",
  post: { path: "/api/generate", bodyLimit: MAX_BODY_BYTES, malformed: { status: 400, code: "MALFORMED_JSON" } },
  invalid: { path: "/api/gallery?limit=0", status: 422, code: "VALIDATION_ERROR", mentions: ["limit", "'0'", "500"] },
});
