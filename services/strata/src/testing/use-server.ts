import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { RunningProgram } from "@kit/http-kernel/testing";
import type { Static } from "typebox";
import { afterAll, beforeAll } from "vitest";
import type { PackageRecord } from "../contract/schemas.js";
import { type IndexMeta, type RangeRecord, writeIndex } from "../store/index.js";
import { makeFolder, NO_META } from "./make-records.js";
import { startStrata } from "./start-strata.js";

export interface TestServer {
  readonly url: string;
  readonly indexPath: string;
  readonly program: RunningProgram;
  /** The JSON answer of a path below /api/v1, which must be a 200; `Data` is what the test expects there. */
  get<Data = ApiRecord[]>(path: string): Promise<ApiAnswer<Data>>;
  /** Status and error body of a path that must fail. */
  fail(path: string): Promise<{ status: number; code: string; message: string }>;
}

export type ApiRecord = Static<typeof PackageRecord>;

export interface ApiAnswer<Data> {
  readonly data: Data;
  readonly meta?: { total: number; limit: number; offset: number; has_more: boolean };
}

/** A real server on an index of these records for all tests of a file. */
export function useServer(records: readonly RangeRecord[], flags: readonly string[] = [], meta: IndexMeta = NO_META) {
  let server: TestServer | undefined;
  let folder: string;
  beforeAll(async () => {
    folder = await makeFolder();
    const indexPath = join(folder, "index.strata");
    await writeIndex(records, meta, indexPath);
    const program = await startStrata(indexPath, flags);
    server = {
      url: program.url,
      indexPath,
      program,
      get: async <Data>(path: string) => {
        const answer = await fetch(`${program.url}/api/v1/${path}`);
        const body = await answer.text();
        if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${body}`);
        return JSON.parse(body) as ApiAnswer<Data>;
      },
      fail: async (path) => {
        const answer = await fetch(`${program.url}/api/v1/${path}`);
        return { status: answer.status, ...((await answer.json()) as { code: string; message: string }) };
      },
    };
  });
  afterAll(async () => {
    await server?.program.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return () => {
    if (server === undefined) throw new Error("The server has not started");
    return server;
  };
}
