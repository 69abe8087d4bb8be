import { findServer } from "../client/open-client.js";

/** Model names for shell completion: asked of the running server, and nothing is offered without one (an engine is not started for a Tab). */
export async function completeModelNames(): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(COMPLETION_TIMEOUT_MS);
  try {
    const settings = { server: process.env["SERVICE_URL"], apiKey: process.env["SERVICE_CLIENT_KEY"] };
    const client = await findServer(settings, signal);
    return ((await client?.listModels(signal)) ?? []).map((model) => model.name);
  } catch {
    return [];
  }
}

/** A running server answers in milliseconds; a shell that waits longer than this for a Tab feels broken. */
const COMPLETION_TIMEOUT_MS = 3_000;
