import { existsSync } from "node:fs";
import { CommandError, type Folders, text } from "@kit/command-line";
import { ApiError, createClient, UnreachableError } from "@kit/http-kernel/contract";
import type { Static } from "typebox";
import { routes } from "../contract/routes.js";
import type { History, PackageList, PackagePage, PackageRecord, Statistics } from "../contract/schemas.js";
import { describeNotFound } from "../query/describe-not-found.js";
import { type NotFound, PackageIndex } from "../query/package-index.js";
import type { SearchQuery } from "../query/search-packages.js";
import { SAMPLE_PATH, SAMPLE_REMEDY } from "../sample/sample-location.js";
import { IndexFileError } from "../store/index.js";
import { indexPath, indexSetting } from "./index-location.js";

export type Package = Static<typeof PackageRecord>;

/** Where the commands get their answers from: the index on this machine, or a server. Both give the API's own objects. */
export interface PackageSource {
  search(query: SearchQuery): Promise<Static<typeof PackagePage>>;
  searchDescriptions(query: { q: string; limit: number; offset: number }): Promise<Static<typeof PackagePage>>;
  packageRecords(attributePath: string): Promise<Static<typeof PackageList>>;
  versionRecords(attributePath: string, version: string): Promise<Static<typeof PackageList>>;
  history(attributePath: string): Promise<Static<typeof History>>;
  statistics(): Promise<Static<typeof Statistics>>;
}

export const sourceSettings = {
  index: indexSetting,
  server: text({
    flag: "--server <url>",
    env: "STRATA_SERVER",
    key: "server",
    doc: "ask this strata server instead of the local index",
    default: undefined,
  }),
};

export async function openPackageSource(
  settings: { readonly server: string | undefined; readonly index: string | undefined },
  folders: Pick<Folders, "data">,
  signal: AbortSignal,
): Promise<PackageSource> {
  if (settings.server !== undefined) return openRemote(settings.server, signal);
  // Whoever names a file wants that file, or to be told that it is not there.
  return await openLocal(settings.index ?? orSample(indexPath(undefined, folders)));
}

/** With no index of one's own there is the sample; whoever asks is told so, apart from the answer. */
function orSample(path: string): string {
  if (existsSync(path) || !existsSync(SAMPLE_PATH)) return path;
  process.stderr.write(`There is no index at ${path}: answering from the built-in sample. ${SAMPLE_REMEDY}\n`);
  return SAMPLE_PATH;
}

async function openLocal(path: string): Promise<PackageSource> {
  const index = await PackageIndex.open(path).catch((error: unknown) => {
    throw error instanceof IndexFileError ? new CommandError("failed", error.message, { cause: error }) : error;
  });
  const parse = <Answer>(bytes: Buffer) => JSON.parse(bytes.toString("utf8")) as Answer;
  const found = <Answer>(result: Buffer | NotFound, attributePath: string, version?: string) => {
    if (Buffer.isBuffer(result)) return parse<Answer>(result);
    throw new CommandError("notFound", describeNotFound(result, attributePath, version));
  };
  return {
    search: async (query) => parse(index.search(query)),
    searchDescriptions: async (query) => parse(index.searchDescriptions(query)),
    packageRecords: async (path) => found(index.findPackage(path), path),
    versionRecords: async (path, version) => found(index.findVersion(path, version, "all"), path, version),
    history: async (path) => found(index.findHistory(path), path),
    statistics: async () => parse(index.statistics()),
  };
}

function openRemote(server: string, signal: AbortSignal): PackageSource {
  // People paste either form of the address.
  const client = createClient(routes, { baseUrl: server.replace(/\/+$/, "").replace(/\/api\/v1$/, "") });
  const explain = <Answer>(answer: Promise<Answer>) =>
    answer.catch((error: unknown) => Promise.reject(explainError(error)));
  return {
    search: ({ version, license, ...query }) =>
      explain(
        client.search({
          query: { ...query, ...(version === null ? {} : { version }), ...(license === null ? {} : { license }) },
          signal,
        }),
      ),
    searchDescriptions: (query) => explain(client.searchDescriptions({ query, signal })),
    packageRecords: (attr) => explain(client.getPackage({ params: { attr }, signal })),
    versionRecords: (attr, version) => explain(client.getVersion({ params: { attr, version }, signal })),
    history: (attr) => explain(client.getHistory({ params: { attr }, signal })),
    statistics: () => explain(client.getStatistics({ signal })),
  };
}

function explainError(error: unknown): unknown {
  if (error instanceof UnreachableError) {
    return new CommandError("unreachable", error.message, {
      remedy: "Check --server, or leave it out to ask the local index.",
      cause: error,
    });
  }
  if (error instanceof ApiError) {
    return new CommandError(error.status === 404 ? "notFound" : "failed", error.message, { cause: error });
  }
  return error;
}
