// usage: node render-pictures.mjs BUILD PART PARTS: draws every PARTS-th listed picture as a 256x256 WebP that its content fills, with
// colour statistics -> BUILD/pictures-PART.bin, .jsonl. Each part is a process of its own, so that all cores draw. A stopped run goes on;
// a picture that crashes the renderer is skipped when the run is given again.
import { appendFileSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Resvg } from "@resvg/resvg-js";
import sharp from "sharp";
import { measureColours } from "./measure-colours.mjs";

const SIDE = 256;
const PROBE = 192; // a first, smaller drawing finds where the content lies
const CLIP_ART_WIDTH = 700;
const LEAST_COVER = 0.02;

const require = createRequire(import.meta.url);
const [build, part, parts] = process.argv.slice(2);
const list = JSON.parse(readFileSync(join(build, "list.json"), "utf8"));
const indexFile = join(build, `pictures-${part}.jsonl`);
const currentFile = join(build, `pictures-${part}.current`);
const done = existsSync(indexFile)
  ? readFileSync(indexFile, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  : [];
let offset = done.length ? done.at(-1).off + done.at(-1).len : 0;
// the picture named here was being drawn when an earlier run ended: it is not tried again
const start = existsSync(currentFile) ? Number(readFileSync(currentFile, "utf8")) + Number(parts) : Number(part);
const data = openSync(join(build, `pictures-${part}.bin`), done.length ? "r+" : "w");

let failed = 0;
let tried = 0;
for (let n = start; n < list.length; n += Number(parts)) {
  writeFileSync(currentFile, String(n));
  try {
    const png = await drawPicture(list[n]);
    const colours = png && measureColours((await readPixels(png)).data);
    if (!colours || colours.cov < LEAST_COVER) continue;
    const bytes = await compress(png, ["3d", "noto"].includes(list[n].style) ? 72 : 76);
    writeSync(data, bytes, 0, bytes.length, offset);
    appendFileSync(indexFile, `${JSON.stringify({ n, off: offset, len: bytes.length, ...colours })}\n`);
    offset += bytes.length;
  } catch (error) {
    failed++;
    console.error(`${list[n].set}/${list[n].key}: ${error.message}`);
  }
  if (++tried % 500 === 0) console.log(`${n}/${list.length}, ${(offset / 1e6).toFixed(1)} MB`);
}
console.log(`part ${part}: ${tried} pictures tried in this run, ${failed} failed, ${(offset / 1e6).toFixed(1)} MB`);

async function readPixels(png) {
  const { data: pixels, info } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data: pixels, width: info.width, height: info.height };
}

function findContent({ data: pixels, width, height }) {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (pixels[(y * width + x) * 4 + 3] <= 12) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y + 1);
    }
  }
  return right < 0 ? null : { left, top, width: right - left, height: bottom - top };
}

async function fillSquare(png, box) {
  const scale = (SIDE - 2) / Math.max(box.width, box.height);
  const width = Math.max(1, Math.round(box.width * scale));
  const height = Math.max(1, Math.round(box.height * scale));
  const input = await sharp(png)
    .ensureAlpha()
    .extract(box)
    .resize(width, height, { fit: "fill", kernel: scale > 1 ? "cubic" : "lanczos3" })
    .png()
    .toBuffer();
  const clear = { r: 0, g: 0, b: 0, alpha: 0 };
  const at = { left: Math.floor((SIDE - width) / 2), top: Math.floor((SIDE - height) / 2) };
  return sharp({ create: { width: SIDE, height: SIDE, channels: 4, background: clear } })
    .composite([{ input, ...at }])
    .png()
    .toBuffer();
}

function drawSvg(svg, width) {
  return new Resvg(svg, { fitTo: { mode: "width", value: width } }).render().asPng();
}

async function drawIcon({ set, key }) {
  const icons = require(`@iconify-json/${set}/icons.json`);
  const icon = icons.icons[key];
  const width = icon.width ?? icons.width ?? 16;
  const height = icon.height ?? icons.height ?? 16;
  const side = Math.max(width, height);
  const wrap = (x, y, size) =>
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="${x} ${y} ${size} ${size}" style="color:black">${icon.body}</svg>`;
  const [x, y] = [(icon.left ?? 0) - (side - width) / 2, (icon.top ?? 0) - (side - height) / 2];
  const box = findContent(await readPixels(drawSvg(wrap(x, y, side), PROBE)));
  if (!box) return null;
  const unit = side / PROBE;
  const size = Math.max(box.width, box.height) * unit * 1.015;
  return drawSvg(
    wrap(x + (box.left + box.width / 2) * unit - size / 2, y + (box.top + box.height / 2) * unit - size / 2, size),
    SIDE,
  );
}

async function drawPicture(picture) {
  if (picture.src === "iconify") return drawIcon(picture);
  const png =
    picture.src === "svgfile"
      ? drawSvg(readFileSync(picture.file, "utf8"), CLIP_ART_WIDTH)
      : await sharp(picture.file).png().toBuffer();
  const pixels = await readPixels(png);
  const box = pixels.width * pixels.height > 4e6 ? null : findContent(pixels);
  if (!box || Math.max(box.width, box.height) < 60) return null;
  return picture.src === "file" && Math.max(box.width, box.height) >= 244 ? png : fillSquare(png, box);
}

/** Lossy, unless nearly lossless costs hardly more (flat pictures). */
async function compress(png, quality) {
  const lossy = await sharp(png).webp({ quality, alphaQuality: 85, effort: 4, smartSubsample: true }).toBuffer();
  const faithful = await sharp(png).webp({ nearLossless: true, quality: 60, effort: 3 }).toBuffer();
  return faithful.length < lossy.length * 1.1 ? faithful : lossy;
}
