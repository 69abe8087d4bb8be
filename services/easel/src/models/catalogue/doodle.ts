/** The model that ships with the program, so that a fresh clone draws at once. */
import { BUILTIN, type CatalogueModel, type CataloguePart } from "./catalogue-types.js";
import { diffusersFiles } from "./diffusers-files.js";

/** It was trained on squares of this side; other sizes and shapes are made from one. */
const SIDE = 256;
const native = { nativeArea: SIDE * SIDE, squareSide: SIDE };

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
