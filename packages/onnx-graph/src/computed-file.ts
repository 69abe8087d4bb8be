import { closeSync, mkdirSync, openSync, realpathSync, rmSync, writeSync } from "node:fs";
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
 */
export class ComputedFile {
  private handle: number | undefined;
  private readonly file: string;
  private length = 0;

  constructor(file: string) {
    mkdirSync(path.dirname(file), { recursive: true });
    this.handle = openSync(file, "w");
    this.file = realpathSync(file);
  }

  append(data: Uint8Array): FileRange {
    if (this.handle === undefined) throw new Error(`${this.file} is closed`);
    const range = { location: this.file.slice(1), offset: this.length, length: data.length };
    let written = 0;
    while (written < data.length) written += writeSync(this.handle, data, written);
    this.length += data.length;
    return range;
  }

  close(): string {
    if (this.handle !== undefined) closeSync(this.handle);
    this.handle = undefined;
    return this.file;
  }

  remove(): void {
    this.close();
    rmSync(this.file, { force: true });
  }
}
