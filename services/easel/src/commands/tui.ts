import { CommandError, defineCommand } from "@kit/command-line";
import { withClient } from "../client/open-client.js";
import { connectionSettings } from "./connection-settings.js";

export const tuiCommand = defineCommand({
  name: "tui",
  summary: "open the terminal UI",
  settings: connectionSettings,
  run: async (context) => {
    const { stdin, stdout } = context.terminal;
    if (!stdin.isTTY || !stdout.isTTY) {
      throw new CommandError("usage", "the terminal UI needs a terminal", {
        remedy: "Use 'easel run' in scripts and pipes.",
      });
    }
    // Loaded only here: React and ink cost a quarter of a second that no other command should pay.
    const { startTui } = await import("../tui/start-tui.js");
    await withClient(context, (client) => startTui(client, context.terminal, context.signal));
  },
});
