import { statSync } from "node:fs";
import type { Logger } from "@kit/http-kernel";
import { PackageIndex } from "../query/package-index.js";

/**
 * The index a server answers from, always the file that lies at the path now. A look at the file costs two microseconds, so
 * every batch of requests takes one; a file that was renamed into place is opened at once and the request that noticed it
 * waits for it. The old index answers what is already under way. A file that cannot be opened changes nothing.
 */
export class IndexSource {
  readonly #path: string;
  readonly #log: Logger;
  readonly #onChange: () => void;
  #current: PackageIndex | undefined;
  /** Identity of the last file that was tried, sound or not: each is tried once. */
  #tried = "";
  #loading: Promise<void> | undefined;
  #looked = false;

  constructor(path: string, options: { log: Logger; onChange?: () => void }) {
    this.#path = path;
    this.#log = options.log;
    this.#onChange = options.onChange ?? (() => undefined);
  }

  /** What is loaded now, without looking at the file. */
  get loaded(): PackageIndex | undefined {
    return this.#current;
  }

  /** The index of the file at the path: at once, or after a new file was opened. `undefined`: there is none. */
  current(): PackageIndex | undefined | Promise<PackageIndex | undefined> {
    this.#look();
    return this.#loading === undefined ? this.#current : this.#loading.then(() => this.#current);
  }

  /** Whether a new file is being opened; answers made before it is done may be of the old one. */
  get isLoading(): boolean {
    this.#look();
    return this.#loading !== undefined;
  }

  /** Requests of one turn of the event loop arrived together: one look serves them all. */
  #look(): void {
    if (this.#looked) return;
    this.#looked = true;
    setImmediate(() => {
      this.#looked = false;
    });
    const identity = identify(this.#path);
    if (identity === undefined || identity === this.#tried || this.#loading !== undefined) return;
    this.#tried = identity;
    this.#loading = this.#load().finally(() => {
      this.#loading = undefined;
    });
  }

  async #load(): Promise<void> {
    try {
      const started = performance.now();
      const index = await PackageIndex.open(this.#path);
      this.#current = index;
      this.#tried = index.identity;
      this.#onChange();
      const { totalRanges, lastIndexedCommit } = index.header.statistics;
      const ms = Math.round(performance.now() - started);
      this.#log.info({ path: this.#path, ranges: totalRanges, commit: lastIndexedCommit, ms }, "index opened");
    } catch (error) {
      const kept = this.#current === undefined ? "there is no index to answer from" : "the index opened before is kept";
      this.#log.error({ path: this.#path, reason: (error as Error).message }, `index not opened; ${kept}`);
    }
  }
}

function identify(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}:${found.size}:${found.mtimeMs}`;
}
