import { appendFileSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";

/** A byte range as external data names it: `location` is relative to the root folder. */
export interface FileRange {
  readonly location: string;
  readonly offset: number;
  readonly length: number;
}

/**
 * Takes weights that were computed while a graph was built (quantised, merged), one after the other.
 * The session maps this file, so the weights are neither held twice nor limited by the size of a proto.
 * The file is closed between appends: a build that fails half-way leaves nothing open.
 */
export class ComputedFile {
  /** its real path */
  readonly file: string;
  private length = 0;

  constructor(file: string) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, "");
    this.file = realpathSync(file);
  }

  append(data: Uint8Array): FileRange {
    const range = { location: this.file.slice(1), offset: this.length, length: data.length };
    appendFileSync(this.file, data);
    this.length += data.length;
    return range;
  }
}
