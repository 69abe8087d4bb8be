/** Several pictures in one body: multipart/mixed, or a zip without compression (pictures are compressed already). */
import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import { CONTENT_TYPES } from "../contract/generate.js";
import type { GenerationResult, MadeImage } from "../generation/generation-result.js";

const nameOf = (image: MadeImage) =>
  image.name ?? `image-${image.index}.${image.format === "jpeg" ? "jpg" : image.format}`;

export function packMultipart({ images, seed }: GenerationResult): { bytes: Buffer; contentType: string } {
  const boundary = `easel-${randomUUID()}`;
  const parts = images.flatMap((image) => [
    Buffer.from(
      [
        `--${boundary}`,
        `Content-Type: ${CONTENT_TYPES[image.format]}`,
        `Content-Length: ${image.bytes.length}`,
        `Content-Disposition: attachment; filename="${nameOf(image)}"`,
        `x-service-seed-used: ${seed + image.index}`,
        "\r\n",
      ].join("\r\n"),
    ),
    image.bytes,
    Buffer.from("\r\n"),
  ]);
  return {
    bytes: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
    contentType: `multipart/mixed; boundary=${boundary}`,
  };
}

/** Earliest date that a zip can carry: the pictures' own time is in their names. */
const DOS_DATE = (1 << 5) | 1;
const VERSION = 20;
const UTF8_NAMES = 0x0800;

/** Stored entries only: local headers with the bytes, the directory, the end record. A hundred bytes an entry need no library. */
export function packZip({ images }: GenerationResult): Buffer {
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const image of images) {
    const name = Buffer.from(nameOf(image));
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(UTF8_NAMES, 2);
    common.writeUInt16LE(DOS_DATE, 8);
    common.writeUInt32LE(crc32(image.bytes), 10);
    common.writeUInt32LE(image.bytes.length, 14);
    common.writeUInt32LE(image.bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const header = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, name]);
    const entry = Buffer.alloc(46);
    entry.write("PK\x01\x02", 0, "latin1");
    entry.writeUInt16LE(VERSION, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    local.push(header, image.bytes);
    directory.push(entry, name);
    offset += header.length + image.bytes.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(images.length, 8);
  end.writeUInt16LE(images.length, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, listing, end]);
}
