import type { CatalogueModel, CataloguePart } from "./catalogue-types.js";
import { diffusersFiles, withQuantised } from "./diffusers-files.js";
import { clipTokenizer, taesd } from "./parts.js";
import { SD15_SIZES } from "./sd15.js";
import { SDXL_SIZES } from "./sdxl.js";

const SD15_BYTES = 2_133_000_000;
const fineTune = (folder: string, repository: string): CataloguePart => ({
  folder,
  repository,
  files: diffusersFiles({ half: true, encoders: ["text_encoder"] }),
  approximateBytes: SD15_BYTES,
});

const singleFile: CataloguePart = {
  folder: "dreamshaper-8/single",
  repository: "Lykon/DreamShaper",
  files: [
    {
      path: "DreamShaper_8_pruned.safetensors",
      size: 2_132_625_894,
      sha256: "879db523c30d3b9017143d56705015e15a2cb5628762c11d086fed9538abd7fd",
    },
  ],
  approximateBytes: 2_132_625_894,
};

export const dreamshaper: readonly CatalogueModel[] = [
  {
    name: "dreamshaper-8",
    aliases: ["dreamshaper"],
    family: "sd15",
    kind: "image",
    description: "DreamShaper 8: a painterly, versatile fine-tune of SD 1.5",
    license: "CreativeML OpenRAIL-M",
    defaults: { width: 512, height: 512, steps: 25, guidance: 7 },
    recommendedSizes: SD15_SIZES,
    recommended: "fp16",
    variants: [
      ...withQuantised({ variant: "fp16", main: fineTune("dreamshaper-8/fp16", "Lykon/dreamshaper-8") }),
      { variant: "single", main: singleFile, entry: "DreamShaper_8_pruned.safetensors", tokenizer: clipTokenizer },
    ],
  },
  {
    name: "dreamshaper-8-lcm",
    family: "lcm",
    kind: "image",
    description: "DreamShaper 8 distilled by LCM: four to eight steps",
    license: "CreativeML OpenRAIL-M",
    defaults: { width: 512, height: 512, steps: 6, guidance: 1.5 },
    recommendedSizes: SD15_SIZES,
    recommended: "fp16",
    variants: withQuantised({
      variant: "fp16",
      main: fineTune("dreamshaper-8-lcm/fp16", "Lykon/dreamshaper-8-lcm"),
      scheduler: { _class_name: "LCMScheduler" },
    }),
  },
  {
    name: "lcm-dreamshaper-7",
    aliases: ["lcm", "lcm-dreamshaper-v7"],
    family: "lcm",
    kind: "image",
    description: "LCM DreamShaper 7: the first latent consistency model, one to eight steps",
    license: "MIT",
    defaults: { width: 512, height: 512, steps: 4, guidance: 1 },
    recommendedSizes: SD15_SIZES,
    recommended: "fp32",
    variants: [
      ...withQuantised({
        variant: "fp32",
        main: {
          folder: "lcm-dreamshaper-7/fp32",
          repository: "SimianLuo/LCM_Dreamshaper_v7",
          files: diffusersFiles({ half: false, encoders: ["text_encoder"] }),
          approximateBytes: 2 * SD15_BYTES,
        },
        autoencoder: taesd,
      }),
    ],
  },
  {
    name: "dreamshaper-xl-turbo",
    aliases: ["dreamshaper-xl"],
    family: "sdxl-turbo",
    kind: "image",
    description: "DreamShaper XL v2 Turbo: an SDXL fine-tune for four to eight steps",
    license: "CreativeML Open RAIL++-M",
    defaults: { width: 1024, height: 1024, steps: 6, guidance: 2 },
    recommendedSizes: SDXL_SIZES,
    recommended: "fp16",
    variants: withQuantised({
      variant: "fp16",
      main: {
        folder: "dreamshaper-xl-turbo/fp16",
        repository: "Lykon/dreamshaper-xl-v2-turbo",
        files: diffusersFiles({ half: true, encoders: ["text_encoder", "text_encoder_2"] }),
        approximateBytes: 6_940_000_000,
      },
    }),
  },
];
