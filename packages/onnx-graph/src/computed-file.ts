import { closeSync, mkdirSync, openSync, realpathSync, rmSync, truncateSync, writeFileSync, writeSync } from "node:fs";
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

  /** Gives the file its full size, so that it can be mapped before everything is written. */
  finish(): void {
    truncateSync(this.file, this.length);
  }
}

/**
 * Weights that threads write are spread over this many files: a file is written by one thread at a time, the others wait.
 * More than a machine has threads to load with would not help, and each takes a name.
 */
const PARTS = 16;

/** The file for the `index`-th weight that is written later. */
export function namePart(file: string, index: number): string {
  return `${file}.${index % PARTS}`;
}

/** Removes all files of a graph's computed weights, by the name that was given as `GraphOptions.computedFile`. */
export function removeComputedFiles(file: string): void {
  rmSync(file, { force: true });
  for (let index = 0; index < PARTS; index++) rmSync(namePart(file, index), { force: true });
}

/** One call writes at most 2 GiB on Linux, and may write less than it was given. */
export function writeFully(handle: number, data: Uint8Array, at: number): void {
  for (let done = 0; done < data.length; ) done += writeSync(handle, data, done, data.length - done, at + done);
}
