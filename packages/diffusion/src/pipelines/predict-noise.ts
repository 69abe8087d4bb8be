/** One look of the UNet at the latents, with guidance: away from the negative prompt, towards the positive one. */
import type { DiffusionModel } from "./diffusion-model.js";
import type { EncodedPrompt } from "./encode-prompt.js";
import type { Latents } from "./latents.js";
import { type Feeds, type FloatTensor, floats, pickOutput } from "./session.js";

export interface NoisePredictor {
  /** `input` is what the UNet sees: scaled latents, and what an inpainting UNet wants besides */
  predict(input: Latents, timestep: number): Promise<Float32Array>;
}

export interface PredictorOptions {
  readonly positive: EncodedPrompt;
  readonly negative: EncodedPrompt | undefined;
  readonly guidance: number;
  /** picture size in pixels, which SDXL is told */
  readonly width: number;
  readonly height: number;
  /** both sides of guidance in one call: pays on a GPU; on a CPU two calls in turn are as fast and need less memory */
  readonly batchGuidance: boolean;
}

export function createNoisePredictor(model: DiffusionModel, options: PredictorOptions): NoisePredictor {
  const { positive, negative, guidance } = options;
  const conditions = (prompts: readonly EncodedPrompt[]): Feeds => describeConditions(model, prompts, options);
  const run = async (input: Latents, timestep: number, feeds: Feeds, batch: number): Promise<Float32Array> => {
    const session = await model.unet.open();
    const outputs = await session.run({
      ...feeds,
      sample: repeat(floats([1, input.channels, input.height, input.width], input.data), batch),
      timestep: floats([1], Float32Array.of(timestep)),
    });
    return pickOutput(outputs, "out_sample").data;
  };
  if (!negative) {
    const feeds = conditions([positive]);
    return { predict: (input, timestep) => run(input, timestep, feeds, 1) };
  }
  if (options.batchGuidance) {
    const feeds = conditions([negative, positive]);
    return {
      async predict(input, timestep) {
        const both = await run(input, timestep, feeds, 2);
        return guide(both.subarray(0, both.length / 2), both.subarray(both.length / 2), guidance);
      },
    };
  }
  const [negativeFeeds, positiveFeeds] = [conditions([negative]), conditions([positive])];
  return {
    async predict(input, timestep) {
      const away = await run(input, timestep, negativeFeeds, 1);
      return guide(away, await run(input, timestep, positiveFeeds, 1), guidance);
    },
  };
}

function guide(negative: Float32Array, positive: Float32Array, guidance: number): Float32Array {
  return negative.map((value, i) => value + guidance * (positive[i]! - value));
}

function describeConditions(
  model: DiffusionModel,
  prompts: readonly EncodedPrompt[],
  options: PredictorOptions,
): Feeds {
  const { unet } = model;
  const feeds: Record<string, FloatTensor> = { encoder_hidden_states: stack(prompts.map((prompt) => prompt.hidden)) };
  if (unet.guidanceWidth !== undefined) {
    const embedded = embedGuidance(options.guidance, unet.guidanceWidth);
    feeds["timestep_cond"] = repeat(floats([1, unet.guidanceWidth], embedded), prompts.length);
  }
  if (unet.hasTextTime) {
    const { width, height } = options;
    const sizes = Float32Array.of(height, width, 0, 0, height, width);
    feeds["time_ids"] = repeat(floats([1, sizes.length], sizes), prompts.length);
    feeds["text_embeds"] = stack(prompts.map((prompt) => prompt.pooled!));
  }
  return feeds;
}

/** The guidance scale as LCM nets take it: sines, then cosines, of (guidance - 1) * 1000 at falling frequencies. */
function embedGuidance(guidance: number, width: number): Float32Array {
  const half = Math.floor(width / 2);
  const result = new Float32Array(width);
  for (let i = 0; i < half; i++) {
    const angle = (guidance - 1) * 1000 * Math.exp((-Math.log(10000) * i) / Math.max(1, half - 1));
    result[i] = Math.sin(angle);
    result[half + i] = Math.cos(angle);
  }
  return result;
}

function stack(tensors: readonly FloatTensor[]): FloatTensor {
  const [first] = tensors;
  if (tensors.length === 1) return first!;
  const data = new Float32Array(first!.data.length * tensors.length);
  for (const [i, tensor] of tensors.entries()) data.set(tensor.data, i * first!.data.length);
  return floats([tensors.length, ...first!.dims.slice(1)], data);
}

function repeat(tensor: FloatTensor, count: number): FloatTensor {
  return stack(Array.from({ length: count }, () => tensor));
}
