// Writes what record.py needs: the tiny checkpoints, adapters for them, and our seeded noise.
//   node tools/golden-pipelines/prepare.mjs <folder>     (after `npx tsc -b packages/diffusion`)
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { drawNoise, NOISE_STREAMS } from "../../packages/diffusion/dist/index.js";
import {
  writeTinyAdapter,
  writeTinyAutoencoder,
  writeTinyCheckpoint,
} from "../../packages/diffusion/dist/testing/index.js";

const SEED = 5;
const COUNT = 4 * 8 * 8;
const folder = process.argv[2];
for (const kind of ["sd1", "sdxl", "inpaint", "lcm"]) await writeTinyCheckpoint(join(folder, kind), { kind });
await writeTinyAutoencoder(join(folder, "tiny-vae"));
await writeTinyAdapter(join(folder, "peft.safetensors"), { rank: 2 });
await writeTinyAdapter(join(folder, "kohya.safetensors"), { naming: "kohya", seed: 2, rank: 4, alpha: 2 });
const steps = Array.from({ length: 8 }, (_, i) => [...drawNoise(SEED, NOISE_STREAMS.firstStep + i, COUNT)]);
await writeFile(
  join(folder, "noise.json"),
  JSON.stringify({ latents: [...drawNoise(SEED, NOISE_STREAMS.latents, COUNT)], steps }),
);
