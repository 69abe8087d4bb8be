/** Adapters and autoencoders that several models are put together with. */
import type { CataloguePart } from "./catalogue-types.js";

const tinyAutoencoder = (name: string): CataloguePart => ({
  folder: `${name}/fp32`,
  repository: `madebyollin/${name}`,
  files: [{ path: "config.json" }, { path: "diffusion_pytorch_model.safetensors" }],
  // 2.4 M parameters
  approximateBytes: 9_800_000,
});

export const taesd = tinyAutoencoder("taesd");
export const taesdxl = tinyAutoencoder("taesdxl");

export const lcmLoraSd15: CataloguePart = {
  folder: "lcm-lora/sd15",
  repository: "latent-consistency/lcm-lora-sdv1-5",
  files: [
    {
      path: "pytorch_lora_weights.safetensors",
      size: 134_621_556,
      sha256: "8f90d840e075ff588a58e22c6586e2ae9a6f7922996ee6649a7f01072333afe4",
    },
  ],
  approximateBytes: 134_621_556,
};

export const lcmLoraSdxl: CataloguePart = {
  folder: "lcm-lora/sdxl",
  repository: "latent-consistency/lcm-lora-sdxl",
  files: [
    {
      path: "pytorch_lora_weights.safetensors",
      size: 393_855_224,
      sha256: "a764e6859b6e04047cd761c08ff0cee96413a8e004c9f07707530cd776b19141",
    },
  ],
  approximateBytes: 393_855_224,
};

export const sdxlLightningLora = (steps: 2 | 4 | 8): CataloguePart => ({
  folder: `sdxl-lightning/${steps}step`,
  repository: "ByteDance/SDXL-Lightning",
  files: [{ path: `sdxl_lightning_${steps}step_lora.safetensors` }],
  approximateBytes: 394_000_000,
});

/** SDXL's own autoencoder overflows in half precision; this one does not. */
export const sdxlAutoencoderFix: CataloguePart = {
  folder: "sdxl-vae-fp16-fix/fp32",
  repository: "madebyollin/sdxl-vae-fp16-fix",
  files: [
    { path: "config.json" },
    {
      path: "diffusion_pytorch_model.safetensors",
      sha256: "1b909373b28f2137098b0fd9dbc6f97f8410854f31f84ddc9fa04b077b0ace2c",
    },
  ],
  approximateBytes: 334_600_000,
};

/** Where the engine looks for the tokenizer that single-file checkpoints leave out. */
export const TOKENIZER_FOLDER = "clip-tokenizer";

export const clipTokenizer: CataloguePart = {
  folder: TOKENIZER_FOLDER,
  repository: "stable-diffusion-v1-5/stable-diffusion-v1-5",
  files: ["vocab.json", "merges.txt", "special_tokens_map.json", "tokenizer_config.json"].map((name) => ({
    path: `tokenizer/${name}`,
    saveAs: name,
  })),
  approximateBytes: 1_600_000,
};
