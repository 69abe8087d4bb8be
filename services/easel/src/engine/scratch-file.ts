/** Where weights computed at load are written: files that a session maps and that are removed at once, so they are memory rather than disk. */
import { readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** A file system in memory: nothing of it is ever written to a disk. Containers often have little of it. */
const MEMORY_FOLDER = "/dev/shm";
const PREFIX = "easel-weights-";

let counter = 0;

/** A new path for about so many bytes: in memory where they fit easily, otherwise in the folder of the settings. */
export function nameScratchFile(bytes: number, folder: string): string {
  const chosen = freeBytes(MEMORY_FOLDER) > bytes * 2 ? MEMORY_FOLDER : folder;
  return join(chosen, `${PREFIX}${process.pid}-${counter++}.bin`);
}

/** Removes what processes that are gone have left behind: one killed while it loaded cannot clean up. */
export function removeStaleScratch(folder: string): void {
  for (const place of [MEMORY_FOLDER, folder]) {
    for (const name of listFiles(place)) {
      const owner = new RegExp(`^${PREFIX}(\\d+)-\\d+\\.bin(\\.\\d+)?$`).exec(name)?.[1];
      if (owner !== undefined && !isAlive(Number(owner))) rmSync(join(place, name), { force: true });
    }
  }
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    // not Linux
    return 0;
  }
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // made when the first file is written
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // it is there but belongs to someone else
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
