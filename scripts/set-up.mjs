// Installs and builds whatever is not yet installed and built. `npm start` and `npm test` run it first; `npm run build` is its second half.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildSteps } from "./build-steps.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stampFolder = join(root, "node_modules", ".set-up");
const OLDEST_NODE = [20, 19];

export function setUp({ install = true } = {}) {
  refuseOldNode();
  if (install) installPackages();
  for (const step of buildSteps) build(step);
}

function refuseOldNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  fail(`Node ${OLDEST_NODE.join(".")} or newer is needed; this is ${process.versions.node}.`);
}

function installPackages() {
  const fingerprint =
    hashOf([".npmrc", "package.json", "package-lock.json", "packages/*/package.json", "services/*/package.json"]) +
    process.platform +
    process.arch;
  if (stampOf("install") === fingerprint) return;
  // `npm install`, not `npm ci`: ci refuses a lock file that lacks the optional packages of platforms the registry in use does not carry.
  // The versions are the lock file's either way, and --no-save leaves it alone.
  // Off: onnxruntime-node's install script, which downloads CUDA libraries from outside the npm registry (.npmrc turns all scripts off; this is the second lock).
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  run("installing packages", "npm", args, { ONNXRUNTIME_NODE_INSTALL: "skip" });
  stamp("install", fingerprint);
}

/** @param {import("./build-steps.mjs").BuildStep} step */
function build(step) {
  const fingerprint = hashOf([...step.inputs, "package-lock.json"]);
  if (stampOf(step.name) === fingerprint && step.outputs.every((output) => existsSync(join(root, output)))) return;
  run(`building ${step.name}`, step.command[0], step.command.slice(1));
  stamp(step.name, fingerprint);
}

function run(title, command, args, env = {}) {
  const startedAt = Date.now();
  process.stderr.write(`set-up: ${title} ...\n`);
  const result = spawnSync(command === "node" ? process.execPath : command, args, {
    cwd: root,
    // npm's own messages must not mix with the output of what is started afterwards
    stdio: ["ignore", 2, 2],
    env: { ...process.env, ...env },
  });
  if (result.error) fail(`${title} failed: ${result.error.message}`);
  if (result.status !== 0)
    fail(`${title} failed (${[command, ...args].join(" ")} ended with ${result.signal ?? result.status}).`);
  process.stderr.write(`set-up: ${title} took ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
}

function fail(message) {
  process.stderr.write(`set-up: ${message}\n`);
  process.exit(1);
}

const stampPath = (name) => join(stampFolder, name.replaceAll(/\W+/g, "-"));

function stampOf(name) {
  return existsSync(stampPath(name)) ? readFileSync(stampPath(name), "utf8") : undefined;
}

function stamp(name, fingerprint) {
  mkdirSync(stampFolder, { recursive: true });
  writeFileSync(stampPath(name), fingerprint);
}

function hashOf(patterns) {
  const hash = createHash("sha256");
  for (const pattern of patterns) {
    for (const path of matching(pattern))
      for (const file of filesBelow(path)) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}

/** `packages/*\/src`: at most one star, standing for one folder (Node 20 has no glob of its own). */
function matching(pattern) {
  if (!pattern.includes("*")) return existsSync(join(root, pattern)) ? [pattern] : [];
  const [before, after] = pattern.split("/*/");
  return readdirSync(join(root, before))
    .sort()
    .map((name) => `${before}/${name}/${after}`)
    .filter((path) => existsSync(join(root, path)));
}

function filesBelow(path) {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.name === "node_modules" ? [] : filesBelow(`${path}/${entry.name}`)));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) setUp({ install: !process.argv.includes("--build-only") });
