import type { CatalogueModel, CataloguePart } from "./catalogue-types.js";
import { diffusersFiles, withQuantised } from "./diffusers-files.js";
import { clipTokenizer, lcmLoraSd15, taesd } from "./parts.js";

const encoders = ["text_encoder"] as const;
export const SD15_SIZES = [
  [512, 512],
  [512, 768],
  [768, 512],
  [640, 512],
  [512, 640],
] as const;
/** 859.5 M + 123.1 M + 83.7 M parameters in half precision */
const SD15_BYTES = 2_133_000_000;

const main: CataloguePart = {
  folder: "sd15/fp16",
  repository: "stable-diffusion-v1-5/stable-diffusion-v1-5",
  files: diffusersFiles({ half: true, encoders }),
  approximateBytes: SD15_BYTES,
};

const singleFile: CataloguePart = {
  folder: "sd15/fp32",
  repository: "stable-diffusion-v1-5/stable-diffusion-v1-5",
  files: [
    {
      path: "v1-5-pruned-emaonly.safetensors",
      size: 4_265_146_304,
      sha256: "6ce0161689b3853acaa03779ec93eafe75a02f4ced659bee03f50797806fa2fa",
    },
  ],
  approximateBytes: 4_265_146_304,
};

export const sd15: readonly CatalogueModel[] = [
  {
    name: "sd15",
    aliases: ["sd1.5", "stable-diffusion-v1-5", "stable-diffusion-1.5"],
    family: "sd15",
    kind: "image",
    description: "Stable Diffusion 1.5, the classic general model, 512 pixels",
    license: "CreativeML OpenRAIL-M",
    defaults: { width: 512, height: 512, steps: 25, guidance: 7.5 },
    recommendedSizes: SD15_SIZES,
    recommended: "fp16",
    variants: [
      ...withQuantised({ variant: "fp16", main }),
      { variant: "fp32", main: singleFile, entry: "v1-5-pruned-emaonly.safetensors", tokenizer: clipTokenizer },
      { variant: "taesd", main, autoencoder: taesd },
    ],
  },
  {
    name: "sd15-lcm",
    family: "lcm",
    kind: "image",
    description: "Stable Diffusion 1.5 with the LCM adapter: four to eight steps",
    license: "CreativeML OpenRAIL-M",
    defaults: { width: 512, height: 512, steps: 4, guidance: 1 },
    recommendedSizes: SD15_SIZES,
    recommended: "fp16",
    variants: withQuantised({
      variant: "fp16",
      main,
      autoencoder: taesd,
      adapters: [{ part: lcmLoraSd15, file: "pytorch_lora_weights.safetensors", scale: 1 }],
      scheduler: { _class_name: "LCMScheduler" },
    }),
  },
];
