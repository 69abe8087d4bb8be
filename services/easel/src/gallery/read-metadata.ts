/** What a picture says of itself. Only the beginning of the file is read; pixels are never decoded. */
import { open } from "node:fs/promises";
import sharp from "sharp";
import { Check } from "typebox/value";
import { ImageMetadata } from "../contract/gallery.js";
import type { OutputFormat } from "../contract/generate.js";
import { METADATA_KEYWORD } from "./encode-image.js";
import { readImageDescription } from "./exif-text.js";
import { readPngTexts } from "./png-text.js";

export interface ImageFacts {
  readonly format: OutputFormat;
  readonly width: number;
  readonly height: number;
  readonly metadata: ImageMetadata | null;
}

/** Our text chunks come right after the PNG header: two prompts of 77,000 bytes each, twice, fit. */
const PNG_START_BYTES = 512 * 1024;
const PNG_FIRST_READ = 16 * 1024;

export async function readImageFacts(path: string): Promise<ImageFacts> {
  // Pixels are not decoded for metadata, so a large picture is no danger here.
  const { format, width, height, exif } = await sharp(path, { limitInputPixels: false }).metadata();
  if (format !== "png" && format !== "jpeg" && format !== "webp")
    throw new Error(`it is ${format}, not PNG, JPEG or WebP`);
  const text = format === "png" ? await readPngMetadata(path) : exif && readImageDescription(exif);
  return { format, width: width ?? 0, height: height ?? 0, metadata: parseMetadata(text) };
}

async function readPngMetadata(path: string): Promise<string | undefined> {
  const file = await open(path, "r");
  try {
    for (const length of [PNG_FIRST_READ, PNG_START_BYTES]) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
      const text = readPngTexts(buffer.subarray(0, bytesRead))[METADATA_KEYWORD];
      if (text !== undefined || bytesRead < length) return text;
    }
    return undefined;
  } finally {
    await file.close();
  }
}

function parseMetadata(text: string | undefined): ImageMetadata | null {
  try {
    const value: unknown = text && JSON.parse(text);
    return Check(ImageMetadata, value) ? value : null;
  } catch {
    return null;
  }
}
