/** The model that ships with the program, so that a fresh clone draws at once. */
import { BUILTIN, type CatalogueModel, type CataloguePart } from "./catalogue-types.js";
import { diffusersFiles } from "./diffusers-files.js";

/** Trained mostly at 256x256, and on shapes up to 3:2 and squares a little smaller and larger (tools/train-doodle/feed.py). */
const LARGEST_AREA = 320 * 320;
const native = {
  nativeArea: LARGEST_AREA,
  trainedSizes: { side: 256, least: 192, most: 384, ratio: 1.5, area: LARGEST_AREA, step: 32 },
};

const main: CataloguePart = {
  folder: "doodle",
  repository: BUILTIN,
  files: diffusersFiles({ half: false, encoders: ["text_encoder"] }),
  approximateBytes: 0,
};

const turboAdapter: CataloguePart = {
  folder: "doodle/turbo",
  repository: BUILTIN,
  files: [{ path: "pytorch_lora_weights.safetensors" }],
  approximateBytes: 0,
};

export const doodle: readonly CatalogueModel[] = [
  {
    name: "doodle",
    family: "doodle",
    kind: "image",
    description: "Our own small model of stickers, emoji scenes and clip art; ships with easel",
    license: "MIT",
    defaults: { width: 256, height: 256, steps: 25, guidance: 4 },
    recommendedSizes: [
      [256, 256],
      [384, 256],
      [256, 384],
      [512, 512],
    ],
    recommended: "turbo",
    variants: [
      {
        variant: "turbo",
        main,
        adapters: [{ part: turboAdapter, file: "pytorch_lora_weights.safetensors", scale: 1 }],
        ...native,
        defaults: { steps: 6, guidance: 1 },
      },
      { variant: "base", main, ...native },
    ],
  },
];
