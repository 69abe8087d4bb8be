/** Rough memory figures of a component, from measurements on Stable Diffusion 1.5 (docs/engine.md): good enough to refuse what cannot fit. */
import type { GraphOptions } from "@kit/onnx-graph";
import type { ComponentPlan } from "./model-components.js";
import type { OpenedModel } from "./opened-model.js";

export interface MemoryEstimate {
  readonly residentBytes: number;
  readonly workingBytes: number;
}

/** Full-size feature maps a VAE holds at its widest moment: 1 GiB at 512x512 with 128 channels. */
const VAE_MAPS = 8;
/** The same for a UNet, in maps of its first width at full latent size: about 1.2 GiB at 64x64 with 320 channels. */
const UNET_MAPS = 240;
/** The VAE works in tiles above this area (see the pipelines' vae.ts). */
const LARGEST_VAE_AREA = 768 * 768;
/** Text encoders, and the tiles of an upscaler. */
const SMALL_WORKING_BYTES = 64 * 2 ** 20;
/** Converted weights, and linear layers once more in the order the kernels like. */
const FOLDED_COPIES = 1.5;
/** Bytes for most weights, the rest as above: 1.3 GiB for the UNet of Stable Diffusion 1.5, 3.2 GiB in F32. */
const INT8_SHARE = 0.42;
/** Bytes per weight in blocks of 32 with one scale. */
const BYTES_PER_WEIGHT = { q8: 1.13, q4: 0.63 } as const;

export function estimateMemory(
  model: OpenedModel,
  plan: ComponentPlan,
  options: GraphOptions,
  area: number,
): MemoryEstimate {
  return { residentBytes: estimateResident(plan, options), workingBytes: estimateWorking(model, plan, options, area) };
}

export function estimateResident(plan: ComponentPlan, options: GraphOptions): number {
  if (options.quantise) return Math.round((plan.floatBytes / 4) * BYTES_PER_WEIGHT[options.quantise]);
  if (options.int8) return Math.round(plan.floatBytes * INT8_SHARE);
  if (options.weights === "cast") return plan.storedBytes;
  return Math.round(plan.floatBytes * (options.compute === "fp16" ? 0.5 : FOLDED_COPIES));
}

function estimateWorking(model: OpenedModel, plan: ComponentPlan, options: GraphOptions, area: number): number {
  const bytesPerValue = options.compute === "fp16" ? 2 : 4;
  const vae = model.vae.config;
  if (plan.name === "unet") {
    const cells = area / vae.factor ** 2;
    const width = model.checkpoint.unet.config.downBlocks[0]!.channels;
    const batch = options.target === "cpu" ? 1 : 2;
    return Math.round(cells * width * bytesPerValue * UNET_MAPS * batch);
  }
  if (plan.name === "vae_decoder" || plan.name === "vae_encoder") {
    const width = vae.kind === "kl" ? vae.blockOutChannels[0]! : vae.decoderChannels[0]!;
    return Math.round(Math.min(area, LARGEST_VAE_AREA) * width * bytesPerValue * VAE_MAPS);
  }
  return SMALL_WORKING_BYTES;
}
