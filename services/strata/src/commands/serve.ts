import cluster from "node:cluster";
import { existsSync } from "node:fs";
import { type CommandContext, defineCommand } from "@kit/command-line";
import { PackageIndex } from "../query/package-index.js";
import { indexPath } from "./index-location.js";
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
    const opening = beginOpening(context);
    const { runServe } = await import("./run-serve.js");
    return await runServe({ ...context, opening });
  },
});

/** The index is read while the server's modules are loaded. */
function beginOpening({
  settings,
  folders,
}: Pick<CommandContext<typeof serveSettings>, "settings" | "folders">): Promise<PackageIndex> | undefined {
  const answersItself = settings.workers === 1 || cluster.isWorker;
  const path = indexPath(settings.index, folders);
  if (!answersItself || !existsSync(path)) return undefined;
  const opening = PackageIndex.open(path);
  // Whoever waits for it hears of a failure; until then it is nobody's.
  opening.catch(() => undefined);
  return opening;
}
