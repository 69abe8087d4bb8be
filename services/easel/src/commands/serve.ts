import { defineCommand } from "@kit/command-line";
import { serveSettings } from "./serve-settings.js";

export const serveCommand = defineCommand({
  name: "serve",
  summary: "start the server",
  settings: serveSettings,
  examples: [
    "easel serve",
    "easel serve --port 8000 --model sd15",
    "SERVICE_API_KEY=secret easel serve --host 0.0.0.0",
  ],
  ownsSignals: true,
  // Loaded only here, as in every command: help, completion and usage errors must not wait for the server's libraries.
  run: async (context) => (await import("./run-server.js")).runServer(context),
});
