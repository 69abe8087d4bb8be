import { type CommandContext, defineCommand, usageError } from "@kit/command-line";
import { withClient } from "../client/open-client.js";
import { connectionSettings } from "./connection-settings.js";
import { deliverySettings } from "./delivery-settings.js";
import { drawAndDeliver } from "./draw-and-deliver.js";
import { pictureRequest, pictureSettings } from "./picture-settings.js";

const settings = {
  ...pictureSettings,
  ...deliverySettings,
  ...connectionSettings,
} as const;

export const runCommand = defineCommand({
  name: "run",
  summary: "draw a picture",
  arguments: [{ name: "prompt", doc: "what to draw; - reads it from standard input", variadic: true, optional: true }],
  settings,
  examples: [
    'easel run "a red fox in the snow"',
    'easel run "a castle in the mountains" --size 384x256 --seed 7 -o castle.png',
    'easel run "make it night" --image castle.png --strength 0.6',
    'echo "two cats" | easel run - > cats.png',
  ],
  run: async (context) => {
    const prompt = await readPrompt(context.args.prompt ?? [], context.terminal);
    const request = await pictureRequest(prompt, context.settings, context.settings.output);
    const delivery = { ...context, file: context.settings.output, show: context.settings.show };
    await withClient(context, (client) => drawAndDeliver(client, request, delivery));
  },
});

async function readPrompt(words: readonly string[], terminal: CommandContext["terminal"]): Promise<string> {
  const given = words.join(" ");
  if (given !== "-" && given.trim() !== "") return given;
  if (given !== "-" && terminal.stdin.isTTY)
    throw usageError("no prompt given", 'Say what to draw: easel run "a red fox in the snow"');
  const chunks: Buffer[] = [];
  for await (const chunk of terminal.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  const piped = Buffer.concat(chunks).toString("utf8").trim();
  if (piped === "") throw usageError("no prompt given: standard input was empty");
  return piped;
}
