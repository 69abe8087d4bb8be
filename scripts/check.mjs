// `npm run check`: types, lint and format, dead code. Runs all of them and fails if any does.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setUp } from "./set-up.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bin = (name) => join(root, "node_modules", ".bin", name);
const pages = ["services/strata/src/web", "services/easel/src/web"].filter((page) =>
  existsSync(join(root, page, "tsconfig.json")),
);

setUp();
const checks = [
  ["types", bin("tsc"), ["-p", "tsconfig.check.json"]],
  ...pages.map((page) => [`types of ${page}`, bin("tsc"), ["-p", page, "--noEmit"]]),
  ["lint and format", bin("biome"), ["check", "."]],
  ["dead code", bin("knip"), []],
];
let failed = false;
for (const [title, command, args] of checks) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  process.stdout.write(`${status === 0 ? "ok    " : "FAILED"} ${title}\n`);
  failed ||= status !== 0;
}
process.exitCode = failed ? 1 : 0;
