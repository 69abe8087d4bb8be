import { existsSync, statSync } from "node:fs";
import type { Logger } from "@kit/http-kernel";
import { PackageIndex } from "../query/package-index.js";
import { SAMPLE_REMEDY } from "../sample/sample-location.js";

/**
 * The index a server answers from, always the file that lies at the path now. A look at the file costs two microseconds, so
 * every batch of requests takes one; a file that was renamed into place is opened at once and the request that noticed it
 * waits for it. The old index answers what is already under way. A file that cannot be opened changes nothing.
 */
export class IndexSource {
  readonly #path: string;
  readonly #samplePath: string | undefined;
  readonly #log: Logger;
  readonly #onChange: () => void;
  #opening: Promise<PackageIndex> | undefined;
  #current: PackageIndex | undefined;
  /** Identity of the last file that was tried, sound or not: each is tried once. */
  #tried = "";
  #loading: Promise<void> | undefined;
  #looked = false;

  constructor(path: string, options: IndexSourceOptions) {
    this.#path = path;
    this.#samplePath = options.samplePath;
    this.#log = options.log;
    this.#onChange = options.onChange ?? (() => undefined);
    this.#opening = options.opening;
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
    const isSample = this.#samplePath !== undefined && this.#current === undefined && !existsSync(this.#path);
    const path = isSample ? this.#samplePath! : this.#path;
    const identity = identify(path);
    if (identity === undefined || identity === this.#tried || this.#loading !== undefined) return;
    this.#tried = identity;
    this.#loading = this.#load(path).finally(() => {
      this.#loading = undefined;
    });
  }

  async #load(path: string): Promise<void> {
    try {
      const started = performance.now();
      const opening = path === this.#path ? this.#opening : undefined;
      this.#opening = undefined;
      const index = await (opening ?? PackageIndex.open(path));
      this.#current = index;
      this.#tried = index.identity;
      this.#onChange();
      const { totalRanges, lastIndexedCommit } = index.header.statistics;
      const ms = Math.round(performance.now() - started);
      this.#log.info({ path, ranges: totalRanges, commit: lastIndexedCommit, ms }, "index opened");
      if (index.header.meta.sample) {
        this.#log.warn({ wanted: this.#path }, `This is the built-in sample, not nixpkgs. ${SAMPLE_REMEDY}`);
      }
    } catch (error) {
      const kept = this.#current === undefined ? "there is no index to answer from" : "the index opened before is kept";
      this.#log.error({ path, reason: (error as Error).message }, `index not opened; ${kept}`);
    }
  }
}

export interface IndexSourceOptions {
  readonly log: Logger;
  readonly onChange?: () => void;
  /** An index to answer from as long as there was never one at the path. */
  readonly samplePath?: string | undefined;
  /** The opening of the file at the path, where it was begun already. */
  readonly opening?: Promise<PackageIndex> | undefined;
}

function identify(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}:${found.size}:${found.mtimeMs}`;
}
