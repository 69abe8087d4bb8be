/** The line of text that AUTOMATIC1111's web UI writes into its pictures; many tools read it. */
import type { ImageMetadata } from "../contract/gallery.js";

export function formatParametersText(metadata: ImageMetadata): string {
  const facts = [
    `Steps: ${metadata.steps}`,
    `CFG scale: ${metadata.guidance}`,
    `Seed: ${metadata.seed}`,
    `Size: ${metadata.width}x${metadata.height}`,
    `Model: ${metadata.model}`,
    ...(metadata.strength === undefined ? [] : [`Denoising strength: ${metadata.strength}`]),
    ...(metadata.lora === undefined ? [] : [`Lora: ${metadata.lora}`, `Lora scale: ${metadata.lora_scale ?? 1}`]),
    `Version: easel ${metadata.version}`,
  ];
  const negative = metadata.negative_prompt === "" ? [] : [`Negative prompt: ${metadata.negative_prompt}`];
  return [metadata.prompt, ...negative, facts.join(", ")].join("\n");
}
