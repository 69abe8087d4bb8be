/** From pixels to a file with its story inside. sharp works in its own threads; only small copies happen here. */
import sharp from "sharp";
import type { ImageMetadata } from "../contract/gallery.js";
import type { OutputFormat } from "../contract/generate.js";
import type { Pixels } from "../engine/engine-api.js";
import { toAsciiJson } from "./exif-text.js";
import { formatParametersText } from "./parameters-text.js";
import { insertPngTexts } from "./png-text.js";

export const METADATA_KEYWORD = "easel";
/** High enough that a reader does not see the difference; the default of 80 shows on flat colours. */
const LOSSY_QUALITY = 92;
/** A JPEG segment holds 64 KiB with its headers; the description and the comment share it. */
const MAX_EXIF_TEXT = 60_000;
const PREVIEW_SIDE = 192;

const open = ({ width, height, rgb }: Pixels) => sharp(rgb, { raw: { width, height, channels: 3 } });

export async function encodeImage(pixels: Pixels, format: OutputFormat, metadata: ImageMetadata): Promise<Buffer> {
  if (format === "png") {
    const png = await open(pixels).png({ compressionLevel: 6 }).toBuffer();
    return insertPngTexts(png, {
      parameters: formatParametersText(metadata),
      [METADATA_KEYWORD]: JSON.stringify(metadata),
    });
  }
  const image = open(pixels).withExif(exifOf(metadata));
  return format === "jpeg"
    ? image.jpeg({ quality: LOSSY_QUALITY, chromaSubsampling: "4:4:4" }).toBuffer()
    : image.webp({ quality: LOSSY_QUALITY }).toBuffer();
}

function exifOf(metadata: ImageMetadata) {
  const description = toAsciiJson(metadata);
  const comment = formatParametersText(metadata);
  const software = `easel ${metadata.version}`;
  if (description.length > MAX_EXIF_TEXT) return { IFD0: { Software: software } };
  const both = description.length + comment.length < MAX_EXIF_TEXT;
  return {
    IFD0: { ImageDescription: description, Software: software },
    ...(both && { IFD2: { UserComment: comment } }),
  };
}

/** A small JPEG, base64, to look at while the picture is being made. */
export async function encodePreview(pixels: Pixels): Promise<string> {
  const small = await open(pixels)
    .resize(PREVIEW_SIDE, PREVIEW_SIDE, { fit: "inside", withoutEnlargement: true })
    .jpeg({ quality: 70 })
    .toBuffer();
  return small.toString("base64");
}
