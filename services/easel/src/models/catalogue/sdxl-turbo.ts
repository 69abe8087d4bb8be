import type { CatalogueModel, CataloguePart } from "./catalogue-types.js";
import { diffusersFiles, withQuantised } from "./diffusers-files.js";
import { sdxlAutoencoderFix, taesdxl } from "./parts.js";

const main: CataloguePart = {
  folder: "sdxl-turbo/fp16",
  repository: "stabilityai/sdxl-turbo",
  files: diffusersFiles({ half: true, encoders: ["text_encoder", "text_encoder_2"], withoutAutoencoder: true }),
  approximateBytes: 6_770_000_000,
};

export const sdxlTurbo: readonly CatalogueModel[] = [
  {
    name: "sdxl-turbo",
    family: "sdxl-turbo",
    kind: "image",
    description: "SDXL Turbo: one to four steps, 512 pixels, no guidance",
    license: "Stability AI Community License",
    defaults: { width: 512, height: 512, steps: 2, guidance: 1 },
    recommendedSizes: [[512, 512]],
    recommended: "fp16",
    variants: [
      ...withQuantised({ variant: "fp16", main, autoencoder: sdxlAutoencoderFix }),
      { variant: "taesd", main, autoencoder: taesdxl },
    ],
  },
];
