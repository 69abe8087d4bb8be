/** Reads one text field out of an EXIF block. sharp gives the block as bytes and no more. */

/** Our JSON lives in ImageDescription: every viewer shows it, and plain ASCII survives every tool. */
const IMAGE_DESCRIPTION = 0x010e;

export function readImageDescription(exif: Uint8Array): string | undefined {
  const block = Buffer.from(exif.buffer, exif.byteOffset, exif.byteLength);
  const tiff = block.toString("latin1", 0, 4) === "Exif" ? block.subarray(6) : block;
  const little = tiff.toString("latin1", 0, 2) === "II";
  const u16 = (at: number) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const u32 = (at: number) => (little ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  try {
    const directory = u32(4);
    for (let i = 0; i < u16(directory); i++) {
      const entry = directory + 2 + 12 * i;
      if (u16(entry) !== IMAGE_DESCRIPTION) continue;
      const length = u32(entry + 4);
      const at = length <= 4 ? entry + 8 : u32(entry + 8);
      return tiff.toString("latin1", at, at + length).replace(/\0+$/, "");
    }
  } catch {
    // An EXIF block that points outside itself: somebody else's, broken.
  }
  return undefined;
}

/** JSON in which every character beyond ASCII is escaped. */
export function toAsciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
