import { randomUUID } from "node:crypto";
import { type CommandContext, resolveSettings } from "@kit/command-line";
import { createLog } from "@kit/http-kernel";
import { studioSettings } from "../commands/serve-settings.js";
import { studioOptions } from "../commands/server-options.js";
import { createEasel } from "../http/create-easel.js";
import { createEaselClient } from "./create-easel-client.js";
import type { ClientConnection } from "./open-client.js";

/** One person, one command: more than it can ask for at once. */
const MAX_WAITING = 100;
/** The command is over when it closes: nothing is left to wait for. */
const CLOSE_DEADLINE_MS = 1_000;

/**
 * The whole server inside this process, on a loopback port and with a key that only this process knows,
 * so that a command without a server takes the same road as one with it.
 */
export async function startInPlace(
  context: Pick<CommandContext, "terminal" | "folders" | "file">,
): Promise<ClientConnection> {
  const { folders, file, terminal } = context;
  const { values } = resolveSettings(studioSettings, { flags: {}, env: terminal.env, file });
  const log = createLog({ name: "easel", level: "silent" });
  const warn = (message: string) => terminal.stderr.write(`easel: ${message}\n`);
  const apiKey = randomUUID();
  const easel = await createEasel({
    ...(await studioOptions(values, { folders, file }, log, warn)),
    apiKeys: [apiKey],
    maxWaiting: MAX_WAITING,
  });
  const { url } = await easel.listen({ host: "127.0.0.1", port: 0 });
  return { ...createEaselClient({ baseUrl: url, apiKey }), inPlace: true, close: () => easel.close(CLOSE_DEADLINE_MS) };
}
