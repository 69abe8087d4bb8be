import cluster from "node:cluster";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type CommandContext, CommandError } from "@kit/command-line";
import {
  createLog,
  type KernelServer,
  type Logger,
  parseCors,
  parseRateLimit,
  parseTrustProxy,
  runUntilSignal,
  SettingError,
} from "@kit/http-kernel";
import { createPackageServer } from "../http/create-package-server.js";
import { runWorkers } from "../http/run-workers.js";
import type { PackageIndex } from "../query/package-index.js";
import { SAMPLE_PATH } from "../sample/sample-location.js";
import { startAutoSync } from "../sync/auto-sync.js";
import { indexPath } from "./index-location.js";
import { programVersion } from "./program-version.js";
import type { serveSettings } from "./serve-settings.js";
import { checkSyncSettings } from "./sync.js";

interface ServeContext extends Pick<CommandContext<typeof serveSettings>, "settings" | "folders" | "output"> {
  /** The opening of the index, where it was begun already. */
  readonly opening: Promise<PackageIndex> | undefined;
}
type Settings = ServeContext["settings"];

/** What `strata serve` does; a file of its own, so that the other commands need not load the server. */
export async function runServe({ settings, folders, output, opening }: ServeContext): Promise<number> {
  const log = createLog({ name: "strata", level: settings.logLevel });
  const path = indexPath(settings.index, folders);
  try {
    if (settings.workers > 1 && cluster.isPrimary) {
      checkWorkers(settings);
      const sync = startSync(settings, path, log);
      const code = await runWorkers({
        count: settings.workers,
        log,
        onListening: (url) => output.line(`strata listens on ${url}`),
      });
      await sync?.stop();
      return code;
    }
    const server = await createFromSettings(settings, path, opening, log);
    const sync = cluster.isPrimary ? startSync(settings, path, log) : undefined;
    const { url } = await server.listen({ host: settings.host, port: settings.port });
    if (cluster.isPrimary) output.line(`strata listens on ${url}`);
    const code = await runUntilSignal({ server, log, afterClose: async () => sync?.stop() });
    // The channel to the primary process would keep a worker alive.
    if (cluster.isWorker) process.disconnect();
    return code;
  } catch (error) {
    throw error instanceof SettingError ? new CommandError("usage", error.message, { cause: error }) : error;
  }
}

/** Each process counts for itself, so a limit would be several times what was asked for. */
function checkWorkers(settings: Settings): void {
  if (settings.rateLimit === undefined) return;
  throw new SettingError("--rate-limit needs one process: leave out --workers, or limit in the proxy in front of it.");
}

/** The built page, when there is one: seen from src/commands and from dist/commands alike. */
const PAGES = fileURLToPath(new URL("../../dist-web", import.meta.url));

async function createFromSettings(
  settings: Settings,
  path: string,
  opening: Promise<PackageIndex> | undefined,
  log: Logger,
): Promise<KernelServer> {
  return await createPackageServer({
    indexPath: path,
    opening,
    // Whoever names a file wants that file: a server without it is degraded, and says so.
    ...(settings.index === undefined ? { samplePath: SAMPLE_PATH } : {}),
    version: programVersion(),
    log,
    pageCacheBytes: settings.pageCache,
    cors: parseCors({ cors: settings.cors, corsOrigins: settings.corsOrigins ?? "" }),
    rateLimit: parseRateLimit(settings.rateLimit, settings.rateLimitBurst),
    trustProxy: parseTrustProxy(settings.trustProxy),
    ...(existsSync(PAGES) ? { pages: { directory: PAGES, deepLinks: ["/package/*", "/search"] as const } } : {}),
  });
}

function startSync(settings: Settings, path: string, log: Logger) {
  if (settings.syncEvery === undefined) return undefined;
  const { manifest } = checkSyncSettings(settings);
  return startAutoSync({
    everyMs: settings.syncEvery,
    indexPath: path,
    manifest,
    publicKey: settings.unsigned ? null : (settings.publicKey ?? null),
    log: (line) => log.info({ line }, "sync"),
  });
}
