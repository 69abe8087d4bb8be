import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Observations } from "./observations.js";
import { loadObservations, saveObservations } from "./observations-file.js";
import { writeTextAtomically } from "./write-atomically.js";

/**
 * The folder beside an index that ingestion works in: `index.strata.work/` for `index.strata`. The index can always be made again from it; without it an
 * index can be served but not extended.
 */

/** Another ingest is at work on the same index. */
export class WorkFolderBusyError extends Error {
  override name = "WorkFolderBusyError";
}

export class WorkFolder {
  readonly path: string;
  private readonly observationsPath: string;
  private readonly writtenPath: string;
  private readonly lockPath: string;

  constructor(readonly indexPath: string) {
    this.path = `${indexPath}.work`;
    this.observationsPath = join(this.path, "observations");
    this.writtenPath = join(this.path, "written.json");
    this.lockPath = join(this.path, "lock");
  }

  /** Takes the folder for this process; a lock whose process is gone is taken over. */
  lock(): void {
    mkdirSync(this.path, { recursive: true });
    for (let attempt = 0; attempt < 2; attempt++) {
      try {
        writeFileSync(this.lockPath, String(process.pid), { flag: "wx" });
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
          throw error;
        }
        const owner = Number(readFileSync(this.lockPath, "utf8"));
        if (isAlive(owner)) {
          throw new WorkFolderBusyError(
            `Another ingest (process ${owner}) is working on ${this.indexPath}. Wait for it, or stop it; if there is none, delete ${this.lockPath}.`,
          );
        }
        rmSync(this.lockPath, { force: true });
      }
    }
    throw new WorkFolderBusyError(`${this.lockPath} cannot be taken: another process keeps taking it.`);
  }

  unlock(): void {
    rmSync(this.lockPath, { force: true });
  }

  hasObservations(): boolean {
    return existsSync(this.observationsPath);
  }

  load(): Observations {
    return this.hasObservations() ? loadObservations(this.observationsPath) : new Observations();
  }

  save(observations: Observations): void {
    saveObservations(this.observationsPath, observations);
  }

  /** The revision of the observations that the index was last written from; -1 when it never was. */
  writtenRevision(): number {
    if (!existsSync(this.writtenPath) || !existsSync(this.indexPath)) {
      return -1;
    }
    return (JSON.parse(readFileSync(this.writtenPath, "utf8")) as { revision: number }).revision;
  }

  markWritten(revision: number): void {
    writeTextAtomically(this.writtenPath, `${JSON.stringify({ revision })}\n`);
  }
}

function isAlive(process_: number): boolean {
  if (!Number.isInteger(process_) || process_ <= 0 || process_ === process.pid) {
    return false;
  }
  try {
    process.kill(process_, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
