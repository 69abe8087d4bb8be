import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { nameScratchFile, removeStaleScratch } from "./scratch-file.js";

it("leaves files of living processes alone and removes those of dead ones", () => {
  const folder = mkdtempSync(join(tmpdir(), "scratch-"));
  // more than any file system in memory holds
  const own = nameScratchFile(Number.MAX_SAFE_INTEGER, folder);
  expect(dirname(own)).toBe(folder);
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const dead = own.replace(`-${process.pid}-`, `-${pid}-`);
  const foreign = join(folder, "easel-weights-of-someone.bin");
  for (const path of [own, dead, `${dead}.7`, foreign]) writeFileSync(path, "weights");
  removeStaleScratch(folder);
  expect(readdirSync(folder).sort()).toEqual([basename(own), basename(foreign)].sort());
  rmSync(folder, { recursive: true });
});

it("gives a new name each time", () => {
  expect(nameScratchFile(1, tmpdir())).not.toBe(nameScratchFile(1, tmpdir()));
});
