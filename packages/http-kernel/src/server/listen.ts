// Starts listening and turns the system's refusals into sentences with a remedy.
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { SettingError } from "./setting-error.js";

export interface ListenOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface ListeningAddress {
  readonly host: string;
  readonly port: number;
  /** For people and clients: `http://localhost:8080` style, no slash at the end. */
  readonly url: string;
}

export async function listenOn(app: FastifyInstance, where: ListenOptions): Promise<ListeningAddress> {
  try {
    await app.listen({ host: where.host, port: where.port });
  } catch (error) {
    throw explainRefusal(error, where);
  }
  const { port } = app.server.address() as AddressInfo;
  return { host: where.host, port, url: `http://${reachableHost(where.host)}:${port}` };
}

function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

function explainRefusal(error: unknown, { host, port }: ListenOptions): unknown {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === "EADDRINUSE")
    return new SettingError(
      `Port ${port} on ${host} is already in use. Stop the program that holds it, or choose another port with --port.`,
    );
  if (code === "EACCES")
    return new SettingError(
      `Port ${port} on ${host} may not be opened by this user. Choose a port above 1023 with --port.`,
    );
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return new SettingError(`'${host}' is no address of this machine. Choose another with --host.`);
  }
  return error;
}
