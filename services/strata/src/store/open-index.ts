import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import {
  damaged,
  decodeFixedHeader,
  decodeHeader,
  FIXED_HEADER_BYTES,
  type IndexHeader,
  type SectionPlace,
  truncated,
} from "./file-format.js";
import { IndexFileError } from "./index-file-error.js";
import { type WasmMemory, webAssembly } from "./web-assembly.js";

/**
 * An index in memory. The whole file lies in one WebAssembly memory, where the query kernels read it; TypeScript sees the
 * same bytes through typed arrays. Nothing is parsed: opening is reading and checking sums.
 */
export interface OpenIndex {
  readonly path: string;
  readonly header: IndexHeader;
  readonly memory: WasmMemory;
  /** Address of the working space behind the file's image, and its size. */
  readonly workspace: { readonly address: number; readonly bytes: number };
  /** What the file was when it was opened: another device, inode, size or time is another index. */
  readonly identity: string;
  /** The address of a section in the memory. */
  address(section: string): number;
  bytes(section: string): Uint8Array;
  numbers(section: string): Uint32Array;
}

/** The first page belongs to the kernels' own constants. */
const IMAGE_ADDRESS = 65_536;
const PAGE_BYTES = 65_536;
const LARGEST_MEMORY = 65_536 * PAGE_BYTES;
/** Checked in pieces of about a millisecond, so that a running server goes on answering meanwhile. */
const CHECKED_BYTES = 4 << 20;
/** Parts of the file that are read side by side; the library's other threads stay free for others. */
const READERS = 2;
/** Linux reads at most this much at once. */
const LARGEST_READ = 1 << 30;

export interface OpenIndexOptions {
  /** Room behind the image, given the header; 0 when the index is only read back. */
  readonly workspaceBytes?: (header: IndexHeader) => number;
}

/** Opens and checks an index file; throws an IndexFileError that says what the file is and what to do. */
export async function openIndex(path: string, options: OpenIndexOptions = {}): Promise<OpenIndex> {
  const file = await openFile(path);
  try {
    const { size, ino, dev, mtimeMs } = await file.stat();
    const header = await readHeader(file, path, size);
    const workspace = { address: IMAGE_ADDRESS + header.fileBytes, bytes: options.workspaceBytes?.(header) ?? 0 };
    const memory = allocate(path, workspace.address + workspace.bytes);
    await readImage(file, new Uint8Array(memory.buffer, IMAGE_ADDRESS, header.fileBytes), path);
    await checkSections(header.sections, memory, path);
    return {
      path,
      header,
      memory,
      workspace,
      identity: `${dev}:${ino}:${size}:${mtimeMs}`,
      ...sectionViews(header, memory),
    };
  } finally {
    await file.close();
  }
}

/** Reads only the header: what an index is and holds, without its content. */
export async function readIndexHeader(path: string): Promise<IndexHeader> {
  const file = await openFile(path);
  try {
    return await readHeader(file, path, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      throw new IndexFileError(
        "missing",
        `There is no index at '${path}'. Make or fetch one ('strata ingest', 'strata sync') or point --index at another file.`,
        { cause: error },
      );
    }
    const reason = (error as Error).message;
    throw new IndexFileError("unreadable", `The index '${path}' cannot be opened: ${reason}.`, { cause: error });
  }
}

async function readHeader(file: FileHandle, path: string, size: number): Promise<IndexHeader> {
  const fixed = await readPart(file, path, 0, Math.min(FIXED_HEADER_BYTES, size));
  const { headerBytes, headerCrc } = decodeFixedHeader(fixed, path);
  if (size < FIXED_HEADER_BYTES + headerBytes) throw truncated(path, FIXED_HEADER_BYTES + headerBytes, size);
  const header = decodeHeader(await readPart(file, path, FIXED_HEADER_BYTES, headerBytes), headerCrc, path);
  if (size < header.fileBytes) throw truncated(path, header.fileBytes, size);
  if (size > header.fileBytes) throw damaged(path, `${size - header.fileBytes} bytes too many at its end`);
  return header;
}

async function readPart(file: FileHandle, path: string, offset: number, bytes: number): Promise<Buffer> {
  const part = Buffer.alloc(bytes);
  try {
    const { bytesRead } = await file.read(part, 0, bytes, offset);
    return part.subarray(0, bytesRead);
  } catch (error) {
    // A directory opens and then cannot be read.
    const reason = (error as Error).message;
    throw new IndexFileError("unreadable", `The index '${path}' cannot be read: ${reason}.`, { cause: error });
  }
}

function allocate(path: string, bytes: number): WasmMemory {
  if (bytes > LARGEST_MEMORY) {
    throw new IndexFileError(
      "unreadable",
      `The index '${path}' needs ${bytes} bytes of memory; at most 4 GiB can be used.`,
    );
  }
  const pages = Math.ceil(bytes / PAGE_BYTES);
  return new webAssembly.Memory({ initial: pages, maximum: pages });
}

/** In few large reads, which go on in threads of their own while this one starts the rest of a server. */
async function readImage(file: FileHandle, image: Uint8Array, path: string): Promise<void> {
  const part = Math.ceil(image.length / READERS);
  const readers = Array.from({ length: READERS }, async (_, number) => {
    const end = Math.min(image.length, (number + 1) * part);
    for (let done = number * part; done < end; ) {
      const { bytesRead } = await file.read(image, done, Math.min(LARGEST_READ, end - done), done);
      if (bytesRead === 0) throw truncated(path, image.length, done);
      done += bytesRead;
    }
  });
  await Promise.all(readers);
}

async function checkSections(sections: readonly SectionPlace[], memory: WasmMemory, path: string): Promise<void> {
  for (const section of sections) {
    let crc = 0;
    for (let done = 0; done < section.bytes; done += CHECKED_BYTES) {
      const length = Math.min(CHECKED_BYTES, section.bytes - done);
      crc = crc32(new Uint8Array(memory.buffer, IMAGE_ADDRESS + section.offset + done, length), crc);
      if (length === CHECKED_BYTES) await new Promise(setImmediate);
    }
    if (crc !== section.crc) throw damaged(path, `the checksum of its part '${section.name}' is wrong`);
  }
}

function sectionViews(header: IndexHeader, memory: WasmMemory) {
  const places = new Map(header.sections.map((section) => [section.name, section]));
  const find = (name: string): SectionPlace => {
    const place = places.get(name);
    if (place === undefined) throw new Error(`An index of this format has no section '${name}'.`);
    return place;
  };
  return {
    address: (name: string) => IMAGE_ADDRESS + find(name).offset,
    bytes: (name: string) => new Uint8Array(memory.buffer, IMAGE_ADDRESS + find(name).offset, find(name).bytes),
    numbers: (name: string) => new Uint32Array(memory.buffer, IMAGE_ADDRESS + find(name).offset, find(name).bytes / 4),
  };
}
