import {
  type CorsPolicy,
  createServer,
  type KernelServer,
  type Logger,
  type PagesOptions,
  type RateLimitRule,
  type TrustProxy,
} from "@kit/http-kernel";
import { errors } from "../contract/errors.js";
import type { PackageIndex } from "../query/package-index.js";
import { Admission } from "./admission.js";
import type { Answering } from "./answer-from-index.js";
import { indexRoutes } from "./index-routes.js";
import { IndexSource } from "./index-source.js";
import { packageRoutes } from "./package-routes.js";
import { PageCache } from "./page-cache.js";
import { searchRoutes } from "./search-routes.js";

export interface PackageServerOptions {
  readonly indexPath: string;
  /** Served as long as there is no index at `indexPath`. */
  readonly samplePath?: string;
  /** The opening of the file at `indexPath`, where it was begun already. */
  readonly opening?: Promise<PackageIndex> | undefined;
  readonly version: string;
  readonly log: Logger;
  /** Bytes of rendered answers that are kept; 0: none. */
  readonly pageCacheBytes: number;
  readonly cors?: CorsPolicy;
  readonly rateLimit?: RateLimitRule | undefined;
  readonly trustProxy?: TrustProxy;
  readonly pages?: PagesOptions;
  readonly admission?: Admission;
}

/** The whole service: index, routes, documentation, web page. The index is open before the first request is taken. */
export async function createPackageServer(options: PackageServerOptions): Promise<KernelServer> {
  const pages = new PageCache(options.pageCacheBytes);
  const source = new IndexSource(options.indexPath, {
    log: options.log,
    onChange: () => pages.clear(),
    samplePath: options.samplePath,
    opening: options.opening,
  });
  const answering: Answering = {
    source,
    pages,
    version: options.version,
    admission: options.admission ?? new Admission(),
  };
  // Begun first and awaited last: the file is read while the server is put together.
  const opened = source.current();
  const server = await createServer({
    name: "strata",
    title: "strata: package index",
    description: "Search every version of every package, and find the commit that has it.",
    version: options.version,
    errors,
    log: options.log,
    routes: [...searchRoutes(answering), ...packageRoutes(answering), ...indexRoutes(answering)],
    docs: { page: "/docs", document: "/openapi.json" },
    rateLimit: options.rateLimit,
    ...(options.cors === undefined ? {} : { cors: options.cors }),
    ...(options.trustProxy === undefined ? {} : { trustProxy: options.trustProxy }),
    ...(options.pages === undefined ? {} : { pages: options.pages }),
  });
  await opened;
  if (source.loaded === undefined) options.log.warn({ path: options.indexPath }, "no index: health is degraded");
  return server;
}
