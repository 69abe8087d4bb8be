import type { CatalogueModel, CataloguePart } from "./catalogue-types.js";
import { diffusersFiles, withQuantised } from "./diffusers-files.js";
import { taesd } from "./parts.js";

const main: CataloguePart = {
  folder: "sd-turbo/fp16",
  repository: "stabilityai/sd-turbo",
  files: diffusersFiles({
    half: true,
    encoders: ["text_encoder"],
    known: { "unet/diffusion_pytorch_model.fp16.safetensors": { size: 1_731_904_736 } },
  }),
  approximateBytes: 2_580_000_000,
};

export const sdTurbo: readonly CatalogueModel[] = [
  {
    name: "sd-turbo",
    family: "sd-turbo",
    kind: "image",
    description: "SD Turbo: one to four steps, 512 pixels, no guidance",
    license: "Stability AI Community License",
    defaults: { width: 512, height: 512, steps: 2, guidance: 1 },
    recommendedSizes: [[512, 512]],
    recommended: "fp16",
    variants: [...withQuantised({ variant: "fp16", main }), { variant: "taesd", main, autoencoder: taesd }],
  },
];
