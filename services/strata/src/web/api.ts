import type { Static } from "typebox";
import type { IndexStatistics, PackageRecord, PageMeta, TimelineMonth } from "../contract/schemas.js";

/** The API as the page uses it; only types come from the contract, so that no schema ends up in the page. */

export type Package = Static<typeof PackageRecord>;
export type Statistics = Static<typeof IndexStatistics>;
export type Month = Static<typeof TimelineMonth>;
export interface Page {
  data: Package[];
  meta: Static<typeof PageMeta>;
}

/** What a search asks for; empty strings mean "not asked". */
export interface Search {
  q: string;
  /** Look in descriptions instead of names. */
  inDescriptions: boolean;
  version: string;
  license: string;
  exact: boolean;
  sort: "relevance" | "date" | "version" | "name";
  reverse: boolean;
}

/** The server said no, in its own words. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export function searchPackages(search: Search, limit: number, offset: number, signal: AbortSignal): Promise<Page> {
  const query = new URLSearchParams({ q: search.q, limit: String(limit), offset: String(offset) });
  if (search.inDescriptions) {
    return get(`/api/v1/search/description?${query}`, signal);
  }
  for (const key of ["version", "license"] as const) {
    if (search[key] !== "") {
      query.set(key, search[key]);
    }
  }
  if (search.exact) {
    query.set("exact", "true");
  }
  if (search.sort !== "relevance") {
    query.set("sort", search.sort);
  }
  if (search.reverse) {
    query.set("reverse", "true");
  }
  return get(`/api/v1/search?${query}`, signal);
}

export async function getPackage(attributePath: string, signal: AbortSignal): Promise<Package[]> {
  return (await get<{ data: Package[] }>(`/api/v1/packages/${encodeURIComponent(attributePath)}`, signal)).data;
}

export async function getStatistics(signal: AbortSignal): Promise<Statistics> {
  return (await get<{ data: Statistics }>("/api/v1/stats", signal)).data;
}

export async function getTimeline(signal: AbortSignal): Promise<Month[]> {
  return (await get<{ data: Month[] }>("/api/v1/stats/timeline", signal)).data;
}

async function get<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(path, { signal, headers: { accept: "application/json" } });
  } catch (error) {
    if (signal.aborted) {
      throw error;
    }
    throw new ApiFailure(0, "The server cannot be reached. Is it still running?");
  }
  const answer = (await response.json()) as Answer & { message?: string };
  if (!response.ok) {
    throw new ApiFailure(response.status, answer.message ?? `The server answered with status ${response.status}.`);
  }
  return answer;
}
