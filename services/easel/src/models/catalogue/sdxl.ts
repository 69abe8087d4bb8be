import type { CatalogueModel, CataloguePart } from "./catalogue-types.js";
import { diffusersFiles, withQuantised } from "./diffusers-files.js";
import { lcmLoraSdxl, sdxlAutoencoderFix, sdxlLightningLora } from "./parts.js";

const encoders = ["text_encoder", "text_encoder_2"] as const;
export const SDXL_SIZES = [
  [1024, 1024],
  [1152, 896],
  [896, 1152],
  [1216, 832],
  [832, 1216],
  [1344, 768],
  [768, 1344],
] as const;
/** 2,567 M + 123 M + 695 M parameters in half precision; the autoencoder comes apart */
const SDXL_BYTES = 6_770_000_000;
const LICENSE = "CreativeML Open RAIL++-M";

const main: CataloguePart = {
  folder: "sdxl/fp16",
  repository: "stabilityai/stable-diffusion-xl-base-1.0",
  files: diffusersFiles({
    half: true,
    encoders,
    withoutAutoencoder: true,
    known: {
      "text_encoder/model.fp16.safetensors": {
        sha256: "660c6f5b1abae9dc498ac2d21e1347d2abdb0cf6c0c0c8576cd796491d9a6cdd",
      },
      "text_encoder_2/model.fp16.safetensors": {
        sha256: "ec310df2af79c318e24d20511b601a591ca8cd4f1fce1d8dff822a356bcdb1f4",
      },
      "unet/diffusion_pytorch_model.fp16.safetensors": {
        sha256: "83e012a805b84c7ca28e5646747c90a243c65c8ba4f070e2d7ddc9d74661e139",
      },
    },
  }),
  approximateBytes: SDXL_BYTES,
};

const lightning = (steps: 2 | 4 | 8) => ({
  variant: `${steps}step`,
  main,
  autoencoder: sdxlAutoencoderFix,
  adapters: [{ part: sdxlLightningLora(steps), file: `sdxl_lightning_${steps}step_lora.safetensors`, scale: 1 }],
  scheduler: { _class_name: "EulerDiscreteScheduler", timestep_spacing: "trailing" },
  defaults: { steps },
});

export const sdxl: readonly CatalogueModel[] = [
  {
    name: "sdxl",
    aliases: ["sdxl-base", "stable-diffusion-xl-base-1.0"],
    family: "sdxl",
    kind: "image",
    description: "Stable Diffusion XL base 1.0, 1024 pixels",
    license: LICENSE,
    defaults: { width: 1024, height: 1024, steps: 30, guidance: 5 },
    recommendedSizes: SDXL_SIZES,
    recommended: "fp16",
    variants: withQuantised({ variant: "fp16", main, autoencoder: sdxlAutoencoderFix }),
  },
  {
    name: "sdxl-lcm",
    family: "lcm",
    kind: "image",
    description: "SDXL base with the LCM adapter: four to eight steps",
    license: LICENSE,
    defaults: { width: 1024, height: 1024, steps: 4, guidance: 1 },
    recommendedSizes: SDXL_SIZES,
    recommended: "fp16",
    variants: withQuantised({
      variant: "fp16",
      main,
      autoencoder: sdxlAutoencoderFix,
      adapters: [{ part: lcmLoraSdxl, file: "pytorch_lora_weights.safetensors", scale: 1 }],
      scheduler: { _class_name: "LCMScheduler" },
    }),
  },
  {
    name: "sdxl-lightning",
    family: "lightning",
    kind: "image",
    description: "SDXL Lightning: SDXL distilled to two, four or eight steps",
    license: LICENSE,
    defaults: { width: 1024, height: 1024, steps: 4, guidance: 1 },
    recommendedSizes: SDXL_SIZES,
    recommended: "4step",
    variants: [
      lightning(2),
      lightning(4),
      lightning(8),
      { ...lightning(4), variant: "q8", quantisation: "q8" },
      { ...lightning(4), variant: "q4", quantisation: "q4" },
    ],
  },
];
