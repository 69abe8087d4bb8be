import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Temporary names carry the process id, so that two programs never write into one file. */
export function temporaryName(path: string): string {
  return `${path}.${process.pid}.tmp`;
}

/** Calls `write` with an open descriptor of a temporary file and puts that file in place of `path` only when all of it is on disk. */
export function writeAtomically(path: string, write: (descriptor: number) => void): void {
  const temporary = temporaryName(path);
  const descriptor = openSync(temporary, "w");
  try {
    write(descriptor);
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch (error) {
    try {
      closeSync(descriptor);
    } catch {
      // closed already
    }
    rmSync(temporary, { force: true });
    throw error;
  }
  replaceFile(temporary, path);
}

export function writeTextAtomically(path: string, text: string): void {
  writeAtomically(path, (descriptor) => writeFileSync(descriptor, text));
}

/** Renames a finished file into place and makes the rename itself durable. */
export function replaceFile(finished: string, path: string): void {
  renameSync(finished, path);
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
