// usage: node tools/judge-doodle/draw-pictures.mjs OUT [--variant turbo|base] [--sheet FILE.webp] [--kind prompts|things|colours|held-out] [--seed N]
// Draws the fixed prompts with the shipped weights through easel's own engine (built: npx tsc -b services/easel), one PNG each,
// and, on request, one sheet of them all. Pictures that are there already are kept, so a stopped run goes on.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import sharp from "sharp";
import { createEngine } from "../../services/easel/dist/engine/engine-host.js";

const SIDE = 256;
const COLUMNS = 8;
const CAPTION_HEIGHT = 22;
const GAP = 6;
const MODEL = fileURLToPath(new URL("../../models/doodle", import.meta.url));
const TURBO_ADAPTER = { path: join(MODEL, "turbo/pytorch_lora_weights.safetensors"), scale: 1 };
const VARIANTS = {
  turbo: { steps: 6, guidance: 1, builtInAdapters: [TURBO_ADAPTER] },
  base: { steps: 25, guidance: 4, builtInAdapters: [] },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    variant: { type: "string", default: "turbo" },
    kind: { type: "string", default: "prompts" },
    sheet: { type: "string" },
    seed: { type: "string", default: "1" },
    adapter: { type: "string" },
  },
});
const out = positionals[0];
const variant = VARIANTS[values.variant];
if (!out || !variant)
  throw new Error(
    "usage: draw-pictures.mjs OUT [--variant turbo|base] [--kind prompts|things|colours|held-out] [--sheet FILE]",
  );

const prompts = readPrompts(values.kind);
mkdirSync(out, { recursive: true });
const engine = await createEngine({ backend: "cpu" });
const seconds = [];
for (const [index, prompt] of prompts.entries()) {
  const file = pictureFile(index, prompt);
  if (existsSync(file)) continue;
  const { images, elapsedMs } = await engine.generate(job(prompt));
  await sharp(images[0].rgb, { raw: { width: SIDE, height: SIDE, channels: 3 } })
    .png()
    .toFile(file);
  seconds.push(elapsedMs / 1000);
  console.log(`${index + 1}/${prompts.length} ${prompt}: ${(elapsedMs / 1000).toFixed(2)} s`);
}
await engine.close();
if (seconds.length) console.log(`median ${seconds.sort((a, b) => a - b)[seconds.length >> 1].toFixed(2)} s a picture`);
if (values.sheet) await writeSheet(values.sheet);

function readPrompts(kind) {
  const file = kind === "prompts" ? join(MODEL, "prompts.txt") : fileURLToPath(new URL(`${kind}.txt`, import.meta.url));
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return kind === "prompts" ? lines : lines.map((thing) => `${/^[aeiou]/.test(thing) ? "an" : "a"} ${thing}`);
}

function job(prompt) {
  return {
    model: { name: `doodle:${values.variant}`, path: MODEL, builtInAdapters: variant.builtInAdapters },
    prompt,
    negativePrompt: "",
    width: SIDE,
    height: SIDE,
    steps: variant.steps,
    guidance: variant.guidance,
    seed: Number(values.seed),
    batch: 1,
    adapters: values.adapter ? [{ path: values.adapter, scale: 1 }] : [],
    preview: false,
  };
}

function pictureFile(index, prompt) {
  return join(out, `${String(index).padStart(2, "0")}-${prompt.replace(/[^a-z0-9]+/g, "-")}.png`);
}

async function writeSheet(file) {
  const cell = { width: SIDE + GAP, height: SIDE + CAPTION_HEIGHT + GAP };
  const layers = prompts.flatMap((prompt, index) => {
    const left = (index % COLUMNS) * cell.width + GAP / 2;
    const top = Math.floor(index / COLUMNS) * cell.height + GAP / 2;
    const caption = `<svg width="${SIDE}" height="${CAPTION_HEIGHT}"><text x="4" y="15" font-size="13" font-family="sans-serif">${prompt}</text></svg>`;
    return [
      { input: pictureFile(index, prompt), left, top },
      { input: Buffer.from(caption), left, top: top + SIDE },
    ];
  });
  const size = { width: COLUMNS * cell.width, height: Math.ceil(prompts.length / COLUMNS) * cell.height };
  await sharp({ create: { ...size, channels: 3, background: "#ececec" } })
    .composite(layers)
    .webp({ quality: 82 })
    .toFile(file);
}
