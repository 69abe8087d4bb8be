import {
  type Cells,
  detectPictureProtocol,
  drawHalfBlocks,
  drawIterm2,
  drawKitty,
  drawSixel,
  type PictureProtocol,
  pictureSize,
  type Terminal,
} from "@kit/command-line";

/** Rows left free below a picture, for the prompt and what is said about the picture. */
const ROWS_KEPT_FREE = 6;
const UNKNOWN_SIZE = { columns: 80, rows: 24 };

/** The encoded picture as text for this terminal; empty when pictures cannot be shown. */
export async function renderPicture(encoded: Uint8Array, protocol: PictureProtocol, room: Cells): Promise<string> {
  if (protocol === "none") return "";
  // Loaded only when there is a picture to show.
  const { default: sharp } = await import("sharp");
  const picture = sharp(encoded);
  const { width, height } = await picture.metadata();
  const size = pictureSize({ width, height }, room, protocol);
  if (protocol === "kitty") return drawKitty(await picture.png().toBuffer(), size);
  if (protocol === "iterm2") return drawIterm2(encoded, size);
  const { data, info } = await picture
    .resize(size.width, size.height, { fit: "fill" })
    .flatten({ background: "#fff" })
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  const pixels = { width: info.width, height: info.height, rgb: data };
  return protocol === "sixel" ? drawSixel(pixels) : drawHalfBlocks(pixels);
}

/** Shows a picture below the cursor, by the protocol asked for or the best that is detected. */
export async function showPicture(
  encoded: Uint8Array,
  terminal: Terminal,
  wanted: PictureProtocol | "auto",
): Promise<void> {
  const protocol = wanted === "auto" ? detectPictureProtocol(terminal) : wanted;
  const screen = terminal.stdout as { columns?: number; rows?: number };
  const room = {
    columns: screen.columns ?? UNKNOWN_SIZE.columns,
    rows: Math.max(4, (screen.rows ?? UNKNOWN_SIZE.rows) - ROWS_KEPT_FREE),
  };
  const drawn = await renderPicture(encoded, protocol, room);
  if (drawn !== "") terminal.stdout.write(`${drawn}\n`);
}
