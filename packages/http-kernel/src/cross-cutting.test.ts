import { fileURLToPath } from "node:url";
import { crossCuttingSuite } from "./testing/cross-cutting-suite.js";
import { startProgram } from "./testing/start-program.js";

const PROGRAM = fileURLToPath(new URL("../dist/testing/fixture/fixture-program.js", import.meta.url));

crossCuttingSuite({
  name: "fixture",
  start: (flags) => startProgram({ command: process.execPath, args: [PROGRAM, "--port", "0", ...flags] }),
  health: "/health",
  docs: { page: "/docs", document: "/openapi.json" },
  get: "/api/items/one",
  parameterPrefix: "/api/items/",
  cacheable: "/api/bytes",
  large: "/api/bytes",
  post: { path: "/api/items", bodyLimit: 1024 * 1024, malformed: { status: 400, code: "MALFORMED_JSON" } },
  invalid: {
    path: "/api/items/one?repeat=-1",
    status: 422,
    code: "VALIDATION_ERROR",
    mentions: ["repeat", "-1", "0 to 100"],
  },
});
