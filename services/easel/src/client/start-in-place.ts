import { CommandError } from "@kit/command-line";
import type { ClientConnection } from "./open-client.js";

export async function startInPlace(_signal: AbortSignal): Promise<ClientConnection> {
  throw new CommandError("unreachable", "no server is running", { remedy: "Start one with 'easel serve'." });
}
