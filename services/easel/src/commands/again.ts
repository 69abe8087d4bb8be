import { CommandError, defineCommand, text } from "@kit/command-line";
import { withClient } from "../client/open-client.js";
import type { ImageMetadata } from "../contract/gallery.js";
import type { GenerateRequest } from "../contract/generate.js";
import { connectionSettings } from "./connection-settings.js";
import { deliverySettings } from "./delivery-settings.js";
import { drawAndDeliver } from "./draw-and-deliver.js";
import { pictureRequest, pictureSettings } from "./picture-settings.js";

/** Makes a picture again from what is written inside it; every flag of `run` overrides one thing of it. */
export const againCommand = defineCommand({
  name: "again",
  summary: "make a picture again from its own metadata, with what you change",
  arguments: [{ name: "file", doc: "a picture that easel made" }],
  settings: {
    prompt: text({ flag: "-p, --prompt <text>", doc: "another prompt", default: undefined }),
    ...pictureSettings,
    ...deliverySettings,
    ...connectionSettings,
  },
  examples: ["easel again fox.png --seed 8", "easel again fox.png --steps 30 -o better.png"],
  run: async (context) => {
    const { settings } = context;
    const metadata = await metadataOf(context.args.file);
    const overrides = await pictureRequest(settings.prompt ?? metadata.prompt, settings, settings.output);
    if (metadata.image_sha256 !== undefined && overrides.image === undefined) {
      throw new CommandError("usage", "this picture was made from another one, which is not inside it", {
        remedy: "Give that one again with --image FILE.",
      });
    }
    const request = { ...requestOf(metadata), ...overrides };
    await withClient(context, (client) =>
      drawAndDeliver(client, request, { ...context, file: settings.output, show: settings.show }),
    );
  },
});

async function metadataOf(file: string): Promise<ImageMetadata> {
  const { readImageFacts } = await import("../gallery/read-metadata.js");
  const facts = await readImageFacts(file).catch((error: Error) => {
    throw new CommandError("notFound", `cannot read ${file}: ${error.message}`);
  });
  if (facts.metadata) return facts.metadata;
  throw new CommandError("failed", `${file} carries no settings`, {
    remedy: "Only pictures made by easel, and not re-encoded since, can be made again.",
  });
}

function requestOf(metadata: ImageMetadata): GenerateRequest {
  return {
    prompt: metadata.prompt,
    negative_prompt: metadata.negative_prompt,
    model: metadata.model,
    seed: metadata.seed,
    steps: metadata.steps,
    guidance: metadata.guidance,
    width: metadata.width,
    height: metadata.height,
    ...(metadata.strength === undefined ? {} : { strength: metadata.strength }),
    ...(metadata.lora === undefined ? {} : { lora: metadata.lora, lora_scale: metadata.lora_scale ?? 1 }),
  };
}
