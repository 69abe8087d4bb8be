import { type CommandContext, CommandError } from "@kit/command-line";
import { ApiError, UnreachableError } from "@kit/http-kernel/contract";
import { DEFAULT_PORT } from "../contract/limits.js";
import type { EaselClient } from "./easel-client.js";

export interface ClientConnection extends EaselClient {
  /** the server was started by this command and ends with it */
  readonly inPlace: boolean;
  close(): Promise<void>;
}

export interface ConnectionSettings {
  readonly server?: string | undefined;
  readonly apiKey?: string | undefined;
}

export type ConnectionContext = Pick<CommandContext, "terminal" | "folders" | "file" | "signal"> & {
  readonly settings: ConnectionSettings;
};

/** Long enough for a busy machine, short enough not to be felt when no server runs. */
const PROBE_TIMEOUT_MS = 1_500;

/** The server that was named; else the one on this machine, if it answers. */
export async function findServer(
  { server, apiKey }: ConnectionSettings,
  signal: AbortSignal,
): Promise<EaselClient | undefined> {
  // Loaded only here: the routes' schemas cost a tenth of a second that help and usage errors should not pay.
  const { createEaselClient } = await import("./create-easel-client.js");
  if (server !== undefined) return createEaselClient({ baseUrl: checkedUrl(server), apiKey });
  const local = `http://127.0.0.1:${DEFAULT_PORT}`;
  return (await answers(local, signal)) ? createEaselClient({ baseUrl: local, apiKey }) : undefined;
}

/** A server that runs, or else one started inside this process. */
async function openClient(context: ConnectionContext): Promise<ClientConnection> {
  const running = await findServer(context.settings, context.signal);
  if (running) return connected(running);
  // Loaded only here: the engine's libraries cost half a second that a command to a running server should not pay.
  const { startInPlace } = await import("./start-in-place.js");
  return startInPlace(context);
}

const connected = (client: EaselClient): ClientConnection => ({ ...client, inPlace: false, close: async () => {} });

function checkedUrl(given: string): string {
  const url = URL.parse?.(given) ?? (URL.canParse(given) ? new URL(given) : null);
  if (url && (url.protocol === "http:" || url.protocol === "https:")) return given.replace(/\/+$/, "");
  throw new CommandError("usage", `--server must be an http or https address (given: ${JSON.stringify(given)})`, {
    remedy: `For example --server http://localhost:${DEFAULT_PORT}`,
  });
}

async function answers(baseUrl: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/health`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]),
    });
    return response.ok;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/** Opens, uses and closes a client; what the server or the network says becomes an exit code and a remedy. */
export async function withClient<T>(
  context: ConnectionContext,
  use: (client: ClientConnection) => Promise<T>,
): Promise<T> {
  const client = await openClient(context);
  try {
    return await use(client);
  } catch (error) {
    throw commandErrorOf(error, context.signal);
  } finally {
    await client.close();
  }
}

const NOT_FOUND_CODES = new Set(["NOT_FOUND", "UNKNOWN_MODEL"]);
const USAGE_CODES = new Set(["VALIDATION_ERROR", "MALFORMED_JSON"]);

function commandErrorOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return new CommandError("interrupted", "interrupted");
  if (error instanceof UnreachableError) {
    return new CommandError("unreachable", error.message, {
      remedy: "Start one with 'easel serve', or name another with --server URL.",
      cause: error,
    });
  }
  if (!(error instanceof ApiError)) return error;
  const remedy =
    error.code === "UNAUTHORIZED" ? { remedy: "Give the server's key with --api-key or SERVICE_CLIENT_KEY." } : {};
  const kind = NOT_FOUND_CODES.has(error.code)
    ? "notFound"
    : USAGE_CODES.has(error.code)
      ? "usage"
      : error.code === "CANCELLED"
        ? "interrupted"
        : "failed";
  return new CommandError(kind, error.message, { ...remedy, cause: error });
}
