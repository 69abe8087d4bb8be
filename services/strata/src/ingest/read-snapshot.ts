import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip } from "node:zlib";
import { DROPPED_ENTRY, EntryCache } from "./entry-cache.js";
import { GrowableColumn } from "./growable-column.js";
import { readEntry } from "./read-entry.js";
import type { RecordTable } from "./record-table.js";
import { MalformedPackageListError, type PackageEntry, PackageEntryScanner } from "./scan-package-entries.js";
import { EntrySlicer } from "./slice-entry.js";

/** Decompressed bytes come in pieces of this size: large enough that the work between pieces does not count. */
const CHUNK_BYTES = 1024 * 1024;

export interface ReadSnapshotResult {
  /** The records of the snapshot, each once. */
  records: Int32Array;
  packages: number;
  /** Entries without a version. */
  dropped: number;
  /** Bytes of JSON. */
  bytes: number;
  /** Entries that had to be parsed because their bytes were new. */
  parsed: number;
}

/** Reads package lists into a record table; one reader per ingest, since it remembers the entries it has seen. */
export class SnapshotReader {
  private readonly cache = new EntryCache();
  private readonly slicer = new EntrySlicer((_, start, end) => this.scanner!.kernel.hashKey(start, end));
  private scanner: PackageEntryScanner | undefined;

  constructor(private readonly table: RecordTable) {}

  /** Reads a package list from decompressed bytes. Throws MalformedPackageListError; the table may then hold records that nothing refers to. */
  async read(chunks: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ReadSnapshotResult> {
    const recordByAttribute = new AttributeRecords();
    const counts = { dropped: 0, bytes: 0, parsed: 0 };
    this.scanner = new PackageEntryScanner((entry) => {
      let record = this.cache.find(entry);
      if (record === undefined) {
        record = this.parse(entry);
        this.cache.remember(record);
        counts.parsed++;
      }
      if (record === DROPPED_ENTRY) {
        counts.dropped++;
      } else {
        recordByAttribute.set(this.table.columns.attributePath.get(record), record);
      }
    });
    for await (const chunk of chunks) {
      signal?.throwIfAborted();
      counts.bytes += chunk.length;
      this.scanner.push(chunk);
    }
    this.scanner.end();
    const records = recordByAttribute.list();
    return { records, packages: records.length, ...counts };
  }

  private parse(entry: PackageEntry): number {
    const { bytes, keyStart, keyEnd, valueStart, valueEnd } = entry;
    try {
      const key = bytes.toString("utf8", keyStart, keyEnd);
      const attributePath = key.includes("\\") ? (JSON.parse(`"${key}"`) as string) : key;
      const facts = readEntry(this.slicer.slice(bytes, valueStart, valueEnd));
      return facts === null || attributePath === "" ? DROPPED_ENTRY : this.table.numberOf(attributePath, facts);
    } catch (cause) {
      const key = bytes.toString("utf8", keyStart, keyEnd);
      throw new MalformedPackageListError(`The entry "${key}" is not valid JSON: ${(cause as Error).message}`);
    }
  }
}

/** A list that names an attribute twice means the later one, as JSON does. */
class AttributeRecords {
  private readonly records = new GrowableColumn(1 << 17);
  private slotOf = new Int32Array(1 << 17);

  set(attribute: number, record: number): void {
    if (attribute >= this.slotOf.length) {
      const larger = new Int32Array(attribute * 2);
      larger.set(this.slotOf);
      this.slotOf = larger;
    }
    const slot = this.slotOf[attribute]!;
    if (slot > 0) {
      this.records.set(slot - 1, record);
    } else {
      this.records.push(record);
      this.slotOf[attribute] = this.records.length;
    }
  }

  list(): Int32Array {
    return this.records.view();
  }
}

/** The decompressed bytes of a package list; the name's ending says how it is compressed. */
export function decompress(name: string, source: Readable): AsyncIterable<Uint8Array> {
  const stream = decompressor(name);
  // A stream that was opened ahead of its time may fail before anyone reads it: the error is kept for the reader, and must not end the process.
  source.on("error", (error) => stream?.destroy(error));
  if (stream === null) {
    return source;
  }
  stream.on("error", () => source.destroy());
  stream.on("close", () => source.destroy());
  return explainCutStreams(name, source.pipe(stream));
}

function decompressor(name: string) {
  if (name.endsWith(".br")) {
    return createBrotliDecompress({
      chunkSize: CHUNK_BYTES,
      params: { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 },
    });
  }
  return name.endsWith(".gz") ? createGunzip({ chunkSize: CHUNK_BYTES }) : null;
}

/** zlib says "unexpected end of file"; the person wants to know which file and what to do. */
async function* explainCutStreams(name: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "";
    if (code.startsWith("Z_") || code.startsWith("ERR_") || code.startsWith("ERR__ERROR_FORMAT")) {
      throw new MalformedPackageListError(
        `${name} cannot be decompressed (${(cause as Error).message}): it is damaged or cut off. Fetch it again.`,
      );
    }
    throw cause;
  }
}

export function openPackageList(path: string): AsyncIterable<Uint8Array> {
  return decompress(path, createReadStream(path, { highWaterMark: CHUNK_BYTES }));
}
