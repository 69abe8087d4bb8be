import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { Channel, Observations, type Snapshot } from "./observations.js";
import { forEachField, RECORD_FIELDS, RecordTable } from "./record-table.js";
import { writeAtomically } from "./write-atomically.js";

/**
 * Observations on disk: a magic line, the length of a JSON header, the header, sections of raw bytes (string lengths and texts per dictionary, then integer columns),
 * and the SHA-256 of all of that. Little-endian, as every machine that Node runs on.
 */

const MAGIC = "strata observations 1\n";
const DIGEST_BYTES = 32;
/** Node cannot read or write more than 2 GiB in one call. */
const LARGEST_TRANSFER = 1 << 30;

interface Header {
  revision: number;
  records: number;
  /** Number of strings of each dictionary, and bytes of their texts. */
  dictionaries: { strings: number; bytes: number }[];
  channels: { name: string; runs: number; snapshots: Snapshot[] }[];
}

export class ObservationsFileError extends Error {
  override name = "ObservationsFileError";
}

export function saveObservations(path: string, observations: Observations): void {
  const { records } = observations;
  const texts = RECORD_FIELDS.map((field) => encodeStrings(records.dictionaries[field].strings));
  const header: Header = {
    revision: observations.revision,
    records: records.size,
    dictionaries: texts.map(({ lengths, heap }) => ({ strings: lengths.length, bytes: heap.length })),
    channels: observations.channels.map((channel) => ({
      name: channel.name,
      runs: channel.runRecord.length,
      snapshots: channel.snapshots,
    })),
  };
  const headerBytes = Buffer.from(JSON.stringify(header));
  const headerLength = Buffer.alloc(4);
  headerLength.writeUInt32LE(headerBytes.length);
  const sections: Uint8Array[] = [Buffer.from(MAGIC), headerLength, headerBytes];
  for (const { lengths, heap } of texts) {
    sections.push(bytesOf(lengths), heap);
  }
  for (const field of RECORD_FIELDS) {
    sections.push(bytesOf(records.columns[field].view()));
  }
  for (const channel of observations.channels) {
    for (const column of [channel.runRecord, channel.runFirst, channel.runLast]) {
      sections.push(bytesOf(column.view()));
    }
  }
  writeAtomically(path, (descriptor) => {
    const digest = createHash("sha256");
    for (const section of sections) {
      digest.update(section);
      writeAll(descriptor, section);
    }
    writeAll(descriptor, digest.digest());
  });
}

export function loadObservations(path: string): Observations {
  const descriptor = openSync(path, "r");
  try {
    return readObservations(new SectionReader(descriptor, path));
  } finally {
    closeSync(descriptor);
  }
}

function readObservations(reader: SectionReader): Observations {
  const header = readHeader(reader);
  const dictionaries = header.dictionaries.map(({ strings, bytes }) => {
    const lengths = reader.integers(strings);
    return decodeStrings(lengths, reader.bytes(bytes));
  });
  const columns = RECORD_FIELDS.map(() => reader.integers(header.records));
  const channels = header.channels.map(({ name, runs, snapshots }) => {
    const [record, first, last] = [reader.integers(runs), reader.integers(runs), reader.integers(runs)];
    return new Channel(name, { snapshots, record, first, last });
  });
  reader.checkDigest();
  const at = (field: (typeof RECORD_FIELDS)[number]) => RECORD_FIELDS.indexOf(field);
  const records = new RecordTable({
    strings: forEachField((field) => dictionaries[at(field)]!),
    columns: forEachField((field) => columns[at(field)]!),
  });
  return new Observations({ records, channels, revision: header.revision });
}

function readHeader(reader: SectionReader): Header {
  if (reader.size < MAGIC.length + 4 + DIGEST_BYTES || reader.bytes(MAGIC.length).toString("latin1") !== MAGIC) {
    throw reader.unusable("it is not a file of observations, or of another version of strata");
  }
  const length = reader.bytes(4).readUInt32LE();
  try {
    return JSON.parse(reader.bytes(length).toString("utf8")) as Header;
  } catch {
    throw reader.unusable("its header is damaged");
  }
}

/** Reads sections one after the other and sums them up for the check at the end. */
class SectionReader {
  readonly size: number;
  private position = 0;
  private readonly digest = createHash("sha256");

  constructor(
    private readonly descriptor: number,
    private readonly path: string,
  ) {
    this.size = fstatSync(descriptor).size;
  }

  bytes(length: number): Buffer {
    const section = this.read(length);
    this.digest.update(section);
    return section;
  }

  integers(count: number): Int32Array {
    const section = this.bytes(count * 4);
    return new Int32Array(section.buffer, section.byteOffset, count);
  }

  checkDigest(): void {
    const expected = this.digest.digest();
    if (this.position + DIGEST_BYTES !== this.size || !this.read(DIGEST_BYTES).equals(expected)) {
      throw this.unusable("its checksum does not match");
    }
  }

  unusable(reason: string): ObservationsFileError {
    return new ObservationsFileError(
      `${this.path} cannot be used: ${reason}. Move its folder away and ingest again from the sources; the index itself is not touched.`,
    );
  }

  private read(length: number): Buffer {
    if (length < 0 || this.position + length > this.size) {
      throw this.unusable("it is cut off");
    }
    // A buffer of its own: typed arrays over it must start at a multiple of four.
    const section = Buffer.from(new ArrayBuffer(length));
    for (let done = 0; done < length; ) {
      const read = readSync(this.descriptor, section, done, Math.min(length - done, LARGEST_TRANSFER), this.position);
      if (read === 0) {
        throw this.unusable("it is cut off");
      }
      done += read;
      this.position += read;
    }
    return section;
  }
}

function encodeStrings(strings: string[]): { lengths: Int32Array; heap: Buffer } {
  const lengths = new Int32Array(strings.length);
  let total = 0;
  for (let at = 0; at < strings.length; at++) {
    lengths[at] = Buffer.byteLength(strings[at]!);
    total += lengths[at]!;
  }
  const heap = Buffer.allocUnsafe(total);
  let offset = 0;
  for (const text of strings) {
    offset += heap.write(text, offset);
  }
  return { lengths, heap };
}

function decodeStrings(lengths: Int32Array, heap: Buffer): string[] {
  const strings = new Array<string>(lengths.length);
  let offset = 0;
  for (let at = 0; at < lengths.length; at++) {
    strings[at] = heap.toString("utf8", offset, offset + lengths[at]!);
    offset += lengths[at]!;
  }
  return strings;
}

function bytesOf(integers: Int32Array): Uint8Array {
  return new Uint8Array(integers.buffer, integers.byteOffset, integers.byteLength);
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, Math.min(bytes.length - done, LARGEST_TRANSFER));
  }
}
