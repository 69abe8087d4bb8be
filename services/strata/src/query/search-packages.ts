import type { EngineMemory } from "./engine-memory.js";
import { type Match, PackageMatcher } from "./match-packages.js";
import { type Order, OrderPages, type PagePart } from "./page-by-order.js";
import { RelevancePages } from "./page-by-relevance.js";
import { type VersionFilter, VersionFilters } from "./version-filter.js";

export type SortName = "relevance" | "date" | "version" | "name";

export interface SearchQuery {
  readonly q: string;
  readonly exact: boolean;
  readonly version: string | null;
  readonly license: string | null;
  readonly sort: SortName;
  readonly reverse: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** The rows of one page and the size of the whole result. */
export interface SearchPage {
  readonly total: number;
  /** A view of working space: valid until the next query. */
  readonly rows: Uint32Array;
}

/** The size of a result, and how to put a part of it into the page. */
interface Result {
  readonly total: number;
  readonly take: (part: PagePart) => void;
}

/**
 * Searches by path and name: exact totals, every order over the whole result, any offset. Nothing is cut off; the kernels
 * are fast enough to look at every row that counts (see bench/strata).
 */
export class PackageSearch {
  readonly #memory: EngineMemory;
  readonly matcher: PackageMatcher;
  readonly #filters: VersionFilters;
  readonly #ordered: OrderPages;
  readonly #relevance: RelevancePages;
  readonly #orders: Record<"date" | "version", Order>;

  constructor(memory: EngineMemory) {
    this.#memory = memory;
    this.matcher = new PackageMatcher(memory);
    this.#filters = new VersionFilters(memory);
    this.#ordered = new OrderPages(memory);
    this.#relevance = new RelevancePages(memory, this.#ordered);
    this.#orders = {
      date: this.#ordered.order("date", { byVersion: false }),
      version: this.#ordered.order("version", { byVersion: true }),
    };
  }

  search(query: SearchQuery): SearchPage {
    const match = this.matcher.match(query);
    const { total, take } = this.#find(query.sort, match, this.#filters.find(query.version));
    const want = Math.max(0, Math.min(query.limit, total - query.offset));
    if (want === 0) return { total, rows: new Uint32Array(0) };
    // A reversed list is the same list counted from its other end.
    const start = query.reverse ? total - query.offset - want : query.offset;
    const address = this.#memory.place("pageRows");
    take({ start, want, address });
    const rows = this.#memory.view(address, want);
    return { total, rows: query.reverse ? rows.reverse() : rows };
  }

  #find(sort: SortName, match: Match, filter: VersionFilter): Result {
    if (sort === "relevance") {
      const counts = this.#relevance.count(match, filter);
      return { total: counts.total, take: (part) => this.#relevance.take(match, filter, counts, part) };
    }
    const { kernels } = this.#memory;
    kernels.packEntryBits(match.entryTier, 0);
    if (sort === "name") {
      const entryRows = this.#relevance.countEntries(match, filter);
      const total = kernels.sumRows(match.entryTier, entryRows) >>> 0;
      return { total, take: (part) => this.#takeByName(entryRows, filter, part) };
    }
    const total = this.#ordered.count(match, filter);
    return { total, take: (part) => this.#ordered.take(this.#orders[sort], match, filter, total, part) };
  }

  #takeByName(entryRows: number, { low, span }: VersionFilter, { start, want, address }: PagePart): void {
    const names = this.#memory.index.numbers("nameEntries");
    this.#memory.kernels.walkNames(names.byteOffset, names.length, entryRows, low, span, start, want, address);
  }
}
