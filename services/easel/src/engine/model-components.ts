/** The networks of a checkpoint as things to load: how large they are, and how their graph is built for this backend. */
import {
  type AutoencoderConfig,
  buildAutoencoderKLDecoder,
  buildAutoencoderKLEncoder,
  buildAutoencoderTinyDecoder,
  buildAutoencoderTinyEncoder,
  buildCLIPTextModel,
  buildUNet2DConditionModel,
  buildUpscaler,
  type Checkpoint,
  type CLIPTextOutputs,
  type Component,
  type UpscalerConfig,
} from "@kit/diffusion";
import type { BuiltGraph, GraphOptions } from "@kit/onnx-graph";
import { countElements, type TensorSource } from "@kit/tensor-files";

export type ComponentName = "text_encoder" | "text_encoder_2" | "unet" | "vae_encoder" | "vae_decoder" | "upscaler";

export interface ComponentPlan {
  readonly name: ComponentName;
  readonly source: TensorSource;
  /** bytes of its weights as stored */
  readonly storedBytes: number;
  /** bytes of its weights in F32 */
  readonly floatBytes: number;
  /** must not run in half precision */
  readonly needsFp32: boolean;
  build(source: TensorSource, options: GraphOptions): BuiltGraph;
}

export function planTextEncoders(checkpoint: Checkpoint, clipSkip: number | undefined): ComponentPlan[] {
  const isXl = checkpoint.kind === "sdxl";
  const plans: ComponentPlan[] = [];
  const { textEncoder, textEncoder2 } = checkpoint;
  // SDXL was trained on the state before the last layer, without the final norm; clip skip counts on from there
  const outputs: CLIPTextOutputs = { skip: (clipSkip ?? 0) + (isXl ? 1 : 0), finalNorm: !isXl };
  if (textEncoder) {
    plans.push(
      describe("text_encoder", textEncoder.source, false, (source, options) =>
        buildCLIPTextModel(textEncoder.config, source, options, outputs),
      ),
    );
  }
  if (textEncoder2) {
    plans.push(
      describe("text_encoder_2", textEncoder2.source, false, (source, options) =>
        buildCLIPTextModel(textEncoder2.config, source, options, { ...outputs, pooled: true }),
      ),
    );
  }
  return plans;
}

export function planUnet(checkpoint: Checkpoint): ComponentPlan {
  const { config, source } = checkpoint.unet;
  return describe("unet", source, false, (from, options) => buildUNet2DConditionModel(config, from, options));
}

export function planVae(vae: Component<AutoencoderConfig>, half: "encoder" | "decoder"): ComponentPlan {
  const { config } = vae;
  const own = half === "encoder" ? /^(encoder|quant_conv)\./ : /^(decoder|post_quant_conv)\./;
  const build = (source: TensorSource, options: GraphOptions) => {
    // the VAE has few linear layers and every rounding in it is visible: it is never quantised
    const { quantise: _, ...plain } = options;
    if (config.kind === "kl") {
      const builder = half === "encoder" ? buildAutoencoderKLEncoder : buildAutoencoderKLDecoder;
      return builder(config, source, plain);
    }
    const builder = half === "encoder" ? buildAutoencoderTinyEncoder : buildAutoencoderTinyDecoder;
    return builder(config, source, plain);
  };
  return describe(`vae_${half}`, vae.source, config.forceUpcast, build, own);
}

export function planUpscaler(upscaler: Component<UpscalerConfig>): ComponentPlan {
  return describe("upscaler", upscaler.source, false, (source, options) => {
    const { quantise: _, ...plain } = options;
    return buildUpscaler(upscaler.config, source, plain);
  });
}

function describe(
  name: ComponentName,
  source: TensorSource,
  needsFp32: boolean,
  build: ComponentPlan["build"],
  own = /^/,
): ComponentPlan {
  let storedBytes = 0;
  let floatBytes = 0;
  for (const tensorName of source.names()) {
    const tensor = source.get(tensorName);
    if (!tensor || !own.test(tensorName)) continue;
    storedBytes += "data" in tensor ? tensor.data.byteLength : tensor.length;
    floatBytes += countElements(tensor.shape) * 4;
  }
  return { name, source, storedBytes, floatBytes, needsFp32, build };
}
