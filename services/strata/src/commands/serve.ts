import { defineCommand } from "@kit/command-line";
import { serveSettings } from "./serve-settings.js";

export const serveCommand = defineCommand({
  name: "serve",
  summary: "start the server",
  settings: serveSettings,
  examples: [
    "strata serve",
    "strata serve --port 0 --cors",
    "strata serve --workers 2",
    "strata serve --rate-limit 50/s",
  ],
  ownsSignals: true,
  run: async (context) => {
    const { runServe } = await import("./run-serve.js");
    return await runServe(context);
  },
});
