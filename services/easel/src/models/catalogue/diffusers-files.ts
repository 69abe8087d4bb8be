/** The files of a repository in diffusers layout that the engine reads. */
import type { CatalogueFile } from "./catalogue-types.js";

interface KnownFile {
  readonly size?: number;
  readonly sha256?: string;
}

const TOKENIZER = ["merges.txt", "vocab.json", "special_tokens_map.json", "tokenizer_config.json"];

interface Layout {
  /** weights that the repository keeps a half-precision copy of: `x.fp16.safetensors`, saved as `x.safetensors` */
  readonly half: boolean;
  readonly encoders: readonly ("text_encoder" | "text_encoder_2")[];
  readonly known?: Readonly<Record<string, KnownFile>>;
  /** the autoencoder comes from elsewhere */
  readonly withoutAutoencoder?: boolean;
}

export function diffusersFiles({ half, encoders, known = {}, withoutAutoencoder = false }: Layout): CatalogueFile[] {
  const infix = half ? ".fp16" : "";
  const plain = (path: string): CatalogueFile => ({ path, ...known[path] });
  const weights = (folder: string, name: string): CatalogueFile => {
    const path = `${folder}/${name}${infix}.safetensors`;
    return { path, saveAs: `${folder}/${name}.safetensors`, ...known[path] };
  };
  const files = [plain("model_index.json"), plain("scheduler/scheduler_config.json")];
  for (const encoder of encoders) {
    const tokenizer = encoder.replace("text_encoder", "tokenizer");
    files.push(plain(`${encoder}/config.json`), weights(encoder, "model"));
    files.push(...TOKENIZER.map((name) => plain(`${tokenizer}/${name}`)));
  }
  files.push(plain("unet/config.json"), weights("unet", "diffusion_pytorch_model"));
  if (!withoutAutoencoder) files.push(plain("vae/config.json"), weights("vae", "diffusion_pytorch_model"));
  return files;
}

/** The same weights at three precisions: as they are, and quantised at load. */
export function withQuantised<V extends { readonly variant: string }>(
  variant: V,
): (V & { quantisation?: "q8" | "q4" })[] {
  return [
    variant,
    { ...variant, variant: "q8", quantisation: "q8" },
    { ...variant, variant: "q4", quantisation: "q4" },
  ];
}
