import { closeSync, mkdirSync, openSync, realpathSync, writeFileSync, writeSync } from "node:fs";
import path from "node:path";

/** A byte range as external data names it: `location` is relative to the root folder. */
export interface FileRange {
  readonly location: string;
  readonly offset: number;
  readonly length: number;
}

/** Weights start on cache lines, as the kernels that read them through the mapping like it. */
const ALIGNMENT = 64;

/**
 * Takes weights that are computed for a graph (quantised, merged, reordered), one after the other.
 * The session maps this file, so the weights are neither held twice nor limited by the size of a proto.
 * The file is closed between writes: a build that fails half-way leaves nothing open.
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

  /** A place that is filled later. */
  reserve(length: number): FileRange {
    const offset = Math.ceil(this.length / ALIGNMENT) * ALIGNMENT;
    this.length = offset + length;
    return { location: this.file.slice(1), offset, length };
  }

  append(data: Uint8Array): FileRange {
    const range = this.reserve(data.length);
    const handle = openSync(this.file, "r+");
    try {
      writeFully(handle, data, range.offset);
    } finally {
      closeSync(handle);
    }
    return range;
  }
}

/** One call writes at most 2 GiB on Linux, and may write less than it was given. */
export function writeFully(handle: number, data: Uint8Array, at: number): void {
  for (let done = 0; done < data.length; ) done += writeSync(handle, data, done, data.length - done, at + done);
}
