/** From a base64 field to pixels of the wanted size. Refused as early as possible: by length, by header, only then decoded. */
import { createHash } from "node:crypto";
import sharp, { type Sharp } from "sharp";
import { errors } from "../contract/errors.js";
import { MAX_INPUT_PIXELS } from "../contract/limits.js";
import type { SettledImage } from "./settled-request.js";

export interface InputFile {
  readonly field: "image" | "mask";
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

const FORMATS: readonly string[] = ["png", "jpeg", "webp"];
/** Masks are black and white; what lies between was a soft edge. */
const WHITE_FROM = 128;
/** A decoded input takes up to 100 MiB: two at a time whatever the number of clients. */
const DECODES_AT_ONCE = 2;

/** Checks base64, format and dimensions. Reads only the header of the picture. */
export async function openInput(field: "image" | "mask", text: string): Promise<InputFile> {
  const bytes = decodeBase64(field, text);
  const header = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch(() => undefined);
  if (!header || !FORMATS.includes(header.format)) {
    const found = header ? header.format : `${bytes.length} bytes of something else`;
    throw errors.VALIDATION_ERROR(`Field '${field}' is ${found}: it must be a PNG, JPEG or WebP picture in base64.`);
  }
  const turned = (header.orientation ?? 1) >= 5;
  const [width, height] = turned ? [header.height, header.width] : [header.width, header.height];
  if (width * height > MAX_INPUT_PIXELS) {
    throw errors.VALIDATION_ERROR(`Field '${field}' is ${width}x${height} pixels: it must have at most 32 megapixels.`);
  }
  return { field, bytes, width, height };
}

function decodeBase64(field: string, text: string): Buffer {
  const comma = text.startsWith("data:") ? text.indexOf(",") : -1;
  const wrong = (why: string) =>
    errors.VALIDATION_ERROR(
      `Field '${field}' is '${text.slice(0, 24)}${text.length > 24 ? "..." : ""}': ${why}; it must be base64 of a PNG, JPEG or WebP.`,
    );
  if (text.startsWith("data:") && (comma < 0 || !/;base64$/i.test(text.slice(0, comma)))) {
    throw wrong("its data: prefix does not say base64");
  }
  const payload = text.slice(comma + 1).trim();
  const digits = payload.length - (payload.endsWith("==") ? 2 : payload.endsWith("=") ? 1 : 0);
  if (digits === 0) throw wrong("it is empty");
  const bytes = Buffer.from(payload, "base64");
  // Buffer skips what is no base64 digit, so bytes are missing exactly when there was such a character.
  if (digits % 4 === 1 || bytes.length !== Math.floor((digits * 3) / 4)) throw wrong("it is no base64");
  return bytes;
}

let decoding = 0;
const waiting: (() => void)[] = [];

async function oneOfFew<T>(action: () => Promise<T>): Promise<T> {
  if (decoding >= DECODES_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else decoding++;
  try {
    return await action();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else decoding--;
  }
}

/** RGB, three bytes a pixel; what is transparent becomes white. */
export const decodeImage = (file: InputFile, width: number, height: number) =>
  decode(file, (picture) =>
    picture
      .resize(width, height, { fit: "cover", kernel: "lanczos3" })
      .flatten({ background: "#ffffff" })
      .toColourspace("srgb")
      .removeAlpha(),
  );

/** One byte a pixel, 255 or 0. */
export const decodeMask = (file: InputFile, width: number, height: number) =>
  decode(file, (picture) =>
    picture
      .resize(width, height, { fit: "cover", kernel: "lanczos3" })
      .flatten({ background: "#000000" })
      .greyscale()
      .threshold(WHITE_FROM)
      .toColourspace("b-w"),
  );

async function decode(file: InputFile, shape: (picture: Sharp) => Sharp): Promise<SettledImage> {
  const sha256 = createHash("sha256").update(file.bytes).digest("hex");
  const source = sharp(file.bytes, { limitInputPixels: MAX_INPUT_PIXELS, failOn: "truncated" }).autoOrient();
  const bytes = await oneOfFew(() => shape(source).raw().toBuffer()).catch((error: Error) => {
    throw errors.VALIDATION_ERROR(`Field '${file.field}' is a damaged picture: ${error.message.split("\n")[0]}.`);
  });
  return { bytes, sha256 };
}
