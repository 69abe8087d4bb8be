/**
 * Draws one picture of the shipped model through the real engine on one backend: node draw-doodle.mjs MODEL cpu|webgpu|cuda OUT.
 * Prints one line of JSON; writes the pixels as they are and as a PNG.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import { createEngine } from "../../services/easel/dist/engine/engine-host.js";

const [model, backend, out] = process.argv.slice(2);
const SIDE = 256;
const job = {
  model: { name: "doodle", path: path.resolve(model) },
  prompt: "a red fox in the snow",
  negativePrompt: "",
  width: SIDE,
  height: SIDE,
  steps: 20,
  guidance: 5,
  seed: 7,
  batch: 1,
  adapters: [],
  preview: false,
};

/** The smallest true PNG: 8-bit RGB, rows unfiltered. */
function encodePng({ width, height, rgb }) {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y++) rows.set(rgb.subarray(y * width * 3, (y + 1) * width * 3), y * (1 + width * 3) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const parts = [chunk("IHDR", header), chunk("IDAT", zlib.deflateSync(rows)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([signature, ...parts]);
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

const started = performance.now();
const engine = await createEngine({ backend });
const cold = await engine.generate(job);
const coldSeconds = (performance.now() - started) / 1000;
const steps = [];
const warm = await engine.generate(job, {
  onProgress: (progress) => {
    if (progress.type === "denoise_step") steps.push(progress.elapsedMs);
  },
});
await engine.close();
const [picture] = warm.images;
mkdirSync(out, { recursive: true });
writeFileSync(path.join(out, "doodle.rgb"), picture.rgb);
writeFileSync(path.join(out, "doodle.png"), encodePng(picture));
console.log(
  JSON.stringify({
    cold: coldSeconds,
    warm: warm.elapsedMs / 1000,
    same: cold.images[0].rgb.every((v, i) => v === picture.rgb[i]),
    warnings: warm.warnings,
  }),
);
