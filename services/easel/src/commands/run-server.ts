import { isIP } from "node:net";
import { type CommandContext, CommandError } from "@kit/command-line";
import { createLog, runUntilSignal, SettingError } from "@kit/http-kernel";
import { EngineError } from "../engine/engine-api.js";
import { ExpandError } from "../expand/expand-error.js";
import { createEasel } from "../http/create-easel.js";
import type { serveSettings } from "./serve-settings.js";
import { serverOptions } from "./server-options.js";

/** Serves until it is told to stop; gives the exit code. */
export async function runServer({
  settings,
  folders,
  file,
  output,
}: CommandContext<typeof serveSettings>): Promise<number> {
  try {
    const log = createLog({ name: "easel", level: settings.logLevel });
    const options = await serverOptions(settings, { folders, file }, log);
    const easel = await createEasel(options);
    const { url } = await easel.listen({ host: settings.host, port: settings.port }).catch(async (error: unknown) => {
      await easel.close(0);
      throw error;
    });
    if (!isLoopback(settings.host) && options.apiKeys?.length === 0) {
      output.note(
        `warning: everyone who reaches ${settings.host} can use this server; set SERVICE_API_KEY to ask for a key`,
      );
    }
    output.line(`easel is listening on ${url}`);
    output.note(`  page and API docs   ${url}/  ${url}/api/docs`);
    output.note(`  models              ${options.modelsFolder}`);
    output.note(`  pictures            ${options.outputDirectory ?? "are not saved (SERVICE_OUTPUT_DIR is empty)"}`);
    const server = { close: (deadlineMs?: number) => easel.close(deadlineMs) };
    return await runUntilSignal({ server, log, deadlineMs: settings.shutdownTime });
  } catch (error) {
    if (error instanceof SettingError) throw new CommandError("usage", error.message, { cause: error });
    // A backend that does not run here, an endpoint that is no address: said by the parts themselves.
    if (error instanceof EngineError || error instanceof ExpandError) {
      throw new CommandError("failed", error.message, { cause: error });
    }
    throw error;
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
