/** Says what a file that is not the expected format most likely is, from its first bytes. */

const MAGICS: readonly { readonly bytes: string; readonly what: string }[] = [
  {
    bytes: "PK\x03\x04",
    what: "it is a zip archive, probably a PyTorch pickle (.ckpt, .pt, .bin), which can run code when opened; get the .safetensors version of this model",
  },
  {
    bytes: "\x80\x02",
    what: "it is a Python pickle, which can run code when opened; get the .safetensors version of this model",
  },
  { bytes: "GGUF", what: "it is a GGUF file; open it as one (its name should end in .gguf)" },
  {
    bytes: "version https://git-lfs",
    what: "it is a Git LFS pointer, not the file itself; download the real file (git lfs pull)",
  },
  { bytes: "<", what: "it is an HTML or XML page, probably a failed download; download it again" },
  { bytes: "\x89HDF", what: "it is an HDF5 file (TensorFlow); get the .safetensors version of this model" },
  { bytes: "\x08", what: "it looks like an ONNX file; get the .safetensors version of this model" },
];

/** A sentence about a foreign file, or undefined where its first bytes tell nothing. Never call it for a valid file. */
export function recogniseForeignFile(start: Uint8Array): string | undefined {
  const text = Buffer.from(start).toString("latin1");
  return MAGICS.find((magic) => text.startsWith(magic.bytes))?.what;
}
