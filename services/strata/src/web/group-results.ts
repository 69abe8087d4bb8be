import { type Package, type Page, type Search, searchPackages } from "./api.js";

/**
 * Records of one package as one entry of the list. In order of relevance, packages that match equally well alternate in the result; they are gathered where the
 * package first appears. In any other order only records that follow each other are joined: the order is what the visitor asked for.
 */
export interface ResultGroup {
  attributePath: string;
  /** In the result's order: the newest version first, unless the visitor sorts otherwise. */
  records: Package[];
}

export interface Results {
  groups: ResultGroup[];
  total: number;
  loaded: number;
  hasMore: boolean;
}

/** Records fetched at once. */
const PAGE_RECORDS = 250;
/** A list shorter than this looks empty although one package with hundreds of versions fills a page: more is then fetched at once. */
const FEWEST_GROUPS = 12;
const MOST_PAGES_AT_ONCE = 4;

/** The first part of a result, enough of it for a list. */
export async function startResults(search: Search, signal: AbortSignal): Promise<Results> {
  return continueResults(search, { groups: [], total: 0, loaded: 0, hasMore: true }, signal);
}

/** The next part, appended. */
export async function continueResults(search: Search, before: Results, signal: AbortSignal): Promise<Results> {
  let results = before;
  const wanted = before.groups.length + FEWEST_GROUPS;
  for (let page = 0; page < MOST_PAGES_AT_ONCE && results.hasMore && results.groups.length < wanted; page++) {
    results = append(
      results,
      await searchPackages(search, PAGE_RECORDS, results.loaded, signal),
      search.sort === "relevance" && !search.reverse,
    );
  }
  return results;
}

function append(results: Results, { data, meta }: Page, gathers: boolean): Results {
  const groups = results.groups.map((group) => ({ ...group, records: [...group.records] }));
  const known = new Map(groups.map((group) => [group.attributePath, group]));
  for (const record of data) {
    const group = gathers ? known.get(record.attribute_path) : groups.at(-1);
    if (group?.attributePath === record.attribute_path) {
      group.records.push(record);
    } else {
      const added = { attributePath: record.attribute_path, records: [record] };
      groups.push(added);
      known.set(record.attribute_path, added);
    }
  }
  return { groups, total: meta.total, loaded: results.loaded + data.length, hasMore: meta.has_more };
}
