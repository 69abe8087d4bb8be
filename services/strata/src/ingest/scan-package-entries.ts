import { ScanKernel } from "./scan-kernel.js";

/**
 * Splits a package list, as it streams by, into its entries: attribute path and the bytes of the entry's JSON object.
 *
 * Written by hand because a package list is up to 400 MB: a general streaming JSON parser makes tokens of every byte of it, while almost every entry
 * equals that of the release before and only has to be found, hashed and recognised (see entry-cache.ts). This scanner looks at structure only;
 * what an entry holds is validated by JSON.parse when it is read for the first time. The loops over every byte are in assembly/scan.ts.
 *
 * Two shapes are accepted: the envelope of a channel release, {"version":2,"packages":{attr:{…}}} with its keys in any order, and the bare
 * {attr:{…}} that nix-env prints.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The largest single entry of nixpkgs is some 60 kB; a thousand times that is not a package list. */
const LARGEST_ENTRY_BYTES = 64 * 1024 * 1024;
const INITIAL_BUFFER_BYTES = 4 * 1024 * 1024;
/** The only envelope version that exists. */
const ENVELOPE_VERSION = 2;

/** One entry: `"attr": {…}` in bytes[keyStart-1 .. valueEnd); valid only during the call. */
export interface PackageEntry {
  bytes: Buffer;
  /** First byte of the attribute path, after its quote. */
  keyStart: number;
  /** The closing quote of the attribute path. */
  keyEnd: number;
  valueStart: number;
  valueEnd: number;
  /** A 64-bit hash of key and value, in two halves. */
  hashLow: number;
  hashHigh: number;
}

/** The list is not what it should be: cut off, not JSON, or of an unknown version. */
export class MalformedPackageListError extends Error {
  override name = "MalformedPackageListError";
}

enum Level {
  /** Before the first brace. */
  Outside,
  /** Members of the outermost object: entries, or the keys of the envelope. */
  Top,
  /** Members of the envelope's `packages`. */
  Packages,
  /** After the last brace. */
  Done,
}

export class PackageEntryScanner {
  /** The bytes of entries lie in its memory. */
  readonly kernel = new ScanKernel(INITIAL_BUFFER_BYTES);
  private buffer = this.kernel.buffer;
  private filled = 0;
  /** Where the next member starts, or the value that is being skipped. */
  private memberStart = 0;
  private position = 0;
  private level = Level.Outside;
  private enveloped = false;
  /** Bytes that left the buffer, for messages. */
  private consumed = 0;
  private envelopeVersion: string | undefined;

  /** A value has begun that is not complete in the buffer yet. */
  private insideValue = false;
  private readonly entry: PackageEntry;

  constructor(private readonly onEntry: (entry: PackageEntry) => void) {
    const nowhere = { keyStart: 0, keyEnd: 0, valueStart: 0, valueEnd: 0, hashLow: 0, hashHigh: 0 };
    this.entry = { bytes: this.buffer, ...nowhere };
  }

  push(chunk: Uint8Array): void {
    this.append(chunk);
    while (this.step()) {
      // each step consumes one member or one bracket
    }
  }

  /** Call when the input has ended: complains about a list that is cut off. */
  end(): void {
    if (this.level !== Level.Done) {
      const where = this.level === Level.Outside ? "it holds no JSON object" : "it ends in the middle";
      throw new MalformedPackageListError(
        `The package list is incomplete: ${where} (after ${this.consumed + this.filled} bytes). Fetch the file again.`,
      );
    }
    if (this.envelopeVersion !== undefined && this.envelopeVersion !== String(ENVELOPE_VERSION)) {
      throw new MalformedPackageListError(
        `The package list has format version ${this.envelopeVersion}; this program reads version ${ENVELOPE_VERSION}. Upgrade strata.`,
      );
    }
  }

  private append(chunk: Uint8Array): void {
    const kept = this.filled - this.memberStart;
    if (this.memberStart > 0) {
      this.buffer.copyWithin(0, this.memberStart, this.filled);
      this.shift(this.memberStart);
    }
    const needed = kept + chunk.length;
    if (needed > this.buffer.length) {
      if (kept > LARGEST_ENTRY_BYTES) {
        throw this.malformed(`an entry is larger than ${LARGEST_ENTRY_BYTES} bytes`);
      }
      this.kernel.makeRoom(needed);
      this.buffer = this.kernel.buffer;
      this.entry.bytes = this.buffer;
    }
    this.buffer.set(chunk, kept);
    this.filled = needed;
  }

  private shift(bytes: number): void {
    this.consumed += bytes;
    this.filled -= bytes;
    this.position -= bytes;
    this.memberStart = 0;
    this.entry.keyStart -= bytes;
    this.entry.keyEnd -= bytes;
    this.entry.valueStart -= bytes;
  }

  /** Consumes one thing; false when more input is needed. */
  private step(): boolean {
    if (this.insideValue) {
      return this.finishValue();
    }
    const at = this.skipBlanks(this.position);
    this.position = at;
    this.memberStart = at;
    if (at >= this.filled) {
      return false;
    }
    const byte = this.buffer[at]!;
    switch (this.level) {
      case Level.Outside:
        if (byte !== OPEN_BRACE) {
          throw this.malformed("it does not start with an object");
        }
        this.level = Level.Top;
        this.position = at + 1;
        return true;
      case Level.Done:
        throw this.malformed("something follows its last brace");
      default:
        if (byte === CLOSE_BRACE) {
          this.level = this.level === Level.Packages ? Level.Top : Level.Done;
          this.position = at + 1;
          return true;
        }
        return this.startMember(at);
    }
  }

  /** Reads `"key":` and the start of its value; nothing changes unless all of that is in the buffer. */
  private startMember(at: number): boolean {
    const { buffer, filled } = this;
    if (buffer[at] !== QUOTE) {
      throw this.malformed(`expected a quoted key, found ${describeByte(buffer[at]!)}`);
    }
    const keyEnd = this.findStringEnd(at + 1);
    const colon = keyEnd < 0 ? filled : this.skipBlanks(keyEnd + 1);
    const valueStart = colon >= filled ? filled : this.skipBlanks(colon + 1);
    if (valueStart >= filled) {
      return false;
    }
    if (buffer[colon] !== COLON) {
      throw this.malformed(`expected a colon, found ${describeByte(buffer[colon]!)}`);
    }
    if (buffer[valueStart] !== OPEN_BRACE) {
      return this.readScalar(at + 1, keyEnd, valueStart);
    }
    if (this.level === Level.Top && buffer.toString("latin1", at + 1, keyEnd) === "packages") {
      this.level = Level.Packages;
      this.enveloped = true;
      this.position = valueStart + 1;
      return true;
    }
    this.entry.keyStart = at + 1;
    this.entry.keyEnd = keyEnd;
    this.entry.valueStart = valueStart;
    this.position = valueStart + 1;
    this.kernel.beginValue();
    this.insideValue = true;
    return true;
  }

  /** Finds the brace that closes the entry; keeps its place when the buffer ends first. */
  private finishValue(): boolean {
    const end = this.kernel.findValueEnd(this.position, this.filled);
    if (end < 0) {
      this.position = this.kernel.resumeAt();
      return false;
    }
    this.insideValue = false;
    this.position = end;
    this.emit(end);
    this.memberStart = end;
    return true;
  }

  private emit(valueEnd: number): void {
    // In an envelope, objects beside `packages` are none of ours.
    if (this.level === Level.Top && this.enveloped) {
      return;
    }
    const { entry } = this;
    entry.valueEnd = valueEnd;
    entry.hashLow = this.kernel.hash(entry.keyStart, valueEnd);
    entry.hashHigh = this.kernel.hashHigh();
    this.onEntry(entry);
  }

  /** A member that is no object: the envelope's version, or something to pass over. */
  private readScalar(keyStart: number, keyEnd: number, valueStart: number): boolean {
    const { buffer, filled } = this;
    if (this.level === Level.Packages) {
      throw this.malformed(`the entry "${buffer.toString("utf8", keyStart, keyEnd)}" is not an object`);
    }
    let end = valueStart;
    if (buffer[valueStart] === QUOTE) {
      end = this.findStringEnd(valueStart + 1) + 1;
      if (end === 0) {
        return false;
      }
    } else {
      while (end < filled && buffer[end] !== COMMA && buffer[end] !== CLOSE_BRACE) {
        end++;
      }
      if (end >= filled) {
        return false;
      }
    }
    if (buffer.toString("latin1", keyStart, keyEnd) === "version") {
      this.envelopeVersion = buffer.toString("latin1", valueStart, end).trim();
    }
    this.position = end;
    return true;
  }

  /** Index of the quote that ends a string, or -1 when it is not in the buffer. */
  private findStringEnd(from: number): number {
    const { buffer, filled } = this;
    let at = from;
    while (at < filled) {
      const byte = buffer[at]!;
      if (byte === QUOTE) {
        return at;
      }
      at += byte === BACKSLASH ? 2 : 1;
    }
    return -1;
  }

  private skipBlanks(from: number): number {
    const { buffer, filled } = this;
    let at = from;
    while (at < filled) {
      const byte = buffer[at]!;
      if (byte > 0x20 && byte !== COMMA) {
        break;
      }
      at++;
    }
    return at;
  }

  private malformed(reason: string): MalformedPackageListError {
    return new MalformedPackageListError(
      `This is not a package list: ${reason} (near byte ${this.consumed + this.position}).`,
    );
  }
}

function describeByte(byte: number): string {
  return byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte ${byte}`;
}
