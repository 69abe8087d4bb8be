// `npm test`: set-up, then the whole suite (or the files named: npm test -- packages/http-kernel).
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setUp } from "./set-up.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
setUp();
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const result = spawnSync(process.execPath, [vitest, "run", ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
process.exitCode = result.status ?? 1;
