import { defineCommand, integer, text } from "@kit/command-line";
import { withClient } from "../client/open-client.js";
import { MAX_SEED, MAX_VARIATIONS } from "../contract/limits.js";
import { completeModelNames } from "./complete-model-names.js";
import { connectionSettings } from "./connection-settings.js";

export const expandCommand = defineCommand({
  name: "expand",
  summary: "make a prompt richer by a language model",
  arguments: [{ name: "prompt", doc: "what the picture should show", variadic: true }],
  settings: {
    model: text({
      flag: "-m, --model <name>",
      env: "EASEL_MODEL",
      key: "run.model",
      doc: "image model the words are meant for",
      default: undefined,
      defaultText: "the server's",
      complete: completeModelNames,
    }),
    variations: integer({
      flag: "-n, --variations <number>",
      doc: "how many different expansions",
      default: 1,
      min: 1,
      max: MAX_VARIATIONS,
    }),
    seed: integer({ flag: "--seed <number>", doc: "same seed, same words", default: undefined, min: 0, max: MAX_SEED }),
    ...connectionSettings,
  },
  examples: [
    'easel expand "a red fox"',
    "easel expand rocket --variations 4 --seed 7",
    'easel run "$(easel expand cat)"',
  ],
  run: async (context) => {
    const { model, variations, seed } = context.settings;
    const request = {
      prompt: context.args.prompt.join(" "),
      variations,
      ...(model !== undefined && { model }),
      ...(seed !== undefined && { seed }),
    };
    await withClient(context, async (client) => {
      const answer = await client.expand(request, context.signal);
      if (context.output.mode === "json") return context.output.json(answer);
      for (const line of answer.expanded) context.output.line(line);
    });
  },
});
