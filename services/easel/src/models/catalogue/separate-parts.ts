import type { CatalogueModel, CataloguePart } from "./catalogue-types.js";
import { clipTokenizer, taesd as sdPart, taesdxl as sdxlPart } from "./parts.js";

const tiny = (name: string, what: string, main: CataloguePart): CatalogueModel => ({
  name,
  family: "taesd",
  kind: "autoencoder",
  description: `Tiny autoencoder for ${what}: decodes in a fraction of the time, used by the models' taesd variants`,
  license: "MIT",
  defaults: { width: 512, height: 512, steps: 1, guidance: 1 },
  recommendedSizes: [],
  recommended: "fp32",
  variants: [{ variant: "fp32", main }],
});

export const separateParts: readonly CatalogueModel[] = [
  tiny("taesd", "Stable Diffusion 1 and 2", sdPart),
  tiny("taesdxl", "SDXL", sdxlPart),
  {
    name: "clip-tokenizer",
    family: "clip",
    kind: "tokenizer",
    description: "The tokenizer that single-file checkpoints leave out; pull it to use your own single files",
    license: "MIT",
    defaults: { width: 512, height: 512, steps: 1, guidance: 1 },
    recommendedSizes: [],
    recommended: "base",
    variants: [{ variant: "base", main: clipTokenizer }],
  },
];
