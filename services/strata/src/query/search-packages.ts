import type { EngineMemory } from "./engine-memory.js";
import { type Match, PackageMatcher } from "./match-packages.js";
import { TextDictionary } from "./text-dictionary.js";

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

/** Which versions are let through: numbers low..low+span-1, and where their rows lie in the version-grouped order. */
interface VersionFilter {
  readonly low: number;
  readonly span: number;
  readonly firstRow: number;
  readonly lastRow: number;
}

const ANY_VERSION: VersionFilter = { low: 0, span: 0xffff_ffff, firstRow: 0, lastRow: 0 };

/** The addresses of one order's columns. */
interface Order {
  readonly rows: number;
  readonly entries: number;
  readonly versions: number;
  readonly ranks: number;
}

/** How the engine chooses between ways that lead to the same page. */
export interface Planning {
  /** What a kernel spends on one row, in nanoseconds, measured; only their relations matter. */
  readonly costs: {
    /** Reading the next place of an order. */
    readonly walk: number;
    /** Setting the bit of a row, reading along an entry, or along a version, where every row is far from the last. */
    readonly scatterEntry: number;
    readonly scatterVersion: number;
    readonly countEntry: number;
    readonly countVersion: number;
  };
  /** From this size on a tier is paged by path shapes instead of by setting a bit for each row. */
  readonly shapeRows: number;
}

export const DEFAULT_PLANNING: Planning = {
  costs: { walk: 0.7, scatterEntry: 1.3, scatterVersion: 4, countEntry: 0.6, countVersion: 1.2 },
  shapeRows: 32_768,
};

/** How many rows of each entry count, and what that makes for each tier. */
interface Counts {
  /** Address of one number an entry. */
  readonly entryRows: number;
  readonly tierRows: readonly number[];
  readonly total: number;
}

/**
 * Searches by path and name: exact totals, every order over the whole result, any offset. Nothing is cut off; the kernels
 * are fast enough to look at every row that counts (see bench/strata).
 */
export class PackageSearch {
  readonly #memory: EngineMemory;
  readonly matcher: PackageMatcher;
  readonly #versions: TextDictionary;
  readonly #versionRowStarts: Uint32Array;
  readonly #shapeStarts: Uint32Array;
  readonly #shapeCounts: Uint32Array;
  readonly #orders: Record<"relevance" | "date" | "version", Order>;
  readonly #rows: number;
  readonly #planning: Planning;

  constructor(memory: EngineMemory, planning: Planning = DEFAULT_PLANNING) {
    this.#memory = memory;
    this.#planning = planning;
    this.matcher = new PackageMatcher(memory);
    this.#versions = new TextDictionary(memory.index, "version", { folded: true });
    this.#versionRowStarts = memory.index.numbers("versionRowStarts");
    this.#shapeStarts = memory.index.numbers("shapeStarts");
    this.#shapeCounts = memory.view(memory.place("shapeCounts"), this.#shapeStarts.length - 1);
    this.#rows = memory.index.numbers("rowEntry").length;
    const order = (name: string): Order => ({
      rows: memory.index.address(`${name}Order:rows`),
      entries: memory.index.address(`${name}Order:entries`),
      versions: memory.index.address(`${name}Order:versions`),
      ranks: memory.index.address(`${name}Order:ranks`),
    });
    this.#orders = { relevance: order("relevance"), date: order("date"), version: order("version") };
  }

  search(query: SearchQuery): SearchPage {
    const match = this.matcher.match(query);
    const filter = query.version === null || query.version === "" ? ANY_VERSION : this.#findVersions(query.version);
    const counts = this.#count(match, filter);
    const { total } = counts;
    const want = Math.max(0, Math.min(query.limit, total - query.offset));
    if (want === 0) return { total, rows: new Uint32Array(0) };
    // A reversed list is the same list counted from its other end.
    const start = query.reverse ? total - query.offset - want : query.offset;
    const page = this.#memory.place("pageRows");
    if (query.sort === "relevance") this.#pageByTiers(match, filter, counts, start, want, page);
    else if (query.sort === "name") this.#pageByNames(match, filter, counts, start, want, page);
    else this.#pageByOrder(this.#orders[query.sort], match, filter, total, start, want, page);
    const rows = this.#memory.view(page, want);
    return { total, rows: query.reverse ? rows.reverse() : rows };
  }

  #findVersions(prefix: string): VersionFilter {
    const { low, high } = this.#versions.prefixRange(prefix);
    const firstRow = this.#versionRowStarts[low] ?? 0;
    return { low, span: high - low, firstRow, lastRow: high > low ? this.#versionRowStarts[high]! : firstRow };
  }

  #count(match: Match, filter: VersionFilter): Counts {
    const { index, kernels } = this.#memory;
    if (filter === ANY_VERSION) {
      return { entryRows: index.address("entrySize"), tierRows: match.tierRows, total: match.rows };
    }
    const entryRows = this.#memory.place("entryCounts");
    if (isCheaperByVersion(match.rows, filter, this.#planning.costs.countEntry, this.#planning.costs.countVersion)) {
      kernels.countByVersions(filter.firstRow, filter.lastRow);
    } else {
      kernels.countByEntries(match.entryList, match.entries, filter.low, filter.span);
    }
    const sums = this.#memory.place("result");
    kernels.sumTiers(match.entryTier, match.entryList, match.entries, entryRows, sums);
    const tierRows = [...this.#memory.view(sums, match.tierRows.length)];
    return { entryRows, tierRows, total: tierRows.reduce((sum, rows) => sum + rows, 0) };
  }

  #pageByNames(match: Match, filter: VersionFilter, counts: Counts, start: number, want: number, page: number): void {
    const { index, kernels } = this.#memory;
    const names = index.numbers("nameEntries");
    kernels.packEntryBits(match.entryTier, 0);
    kernels.walkNames(names.byteOffset, names.length, counts.entryRows, filter.low, filter.span, start, want, page);
  }

  /** The best tier first; inside a tier the relevance order. */
  #pageByTiers(match: Match, filter: VersionFilter, counts: Counts, start: number, want: number, page: number): void {
    let skip = start;
    let found = 0;
    for (let tier = counts.tierRows.length - 1; tier > 0 && found < want; tier--) {
      const size = counts.tierRows[tier]!;
      if (size <= skip) {
        skip -= size;
        continue;
      }
      const part = Math.min(size - skip, want - found);
      const at = page + found * 4;
      if (size >= this.#planning.shapeRows) this.#pageByShapes(match, tier, filter, counts, skip, part, at);
      else this.#pageByBits(this.#orders.relevance, match, tier, filter, skip, part, at);
      found += part;
      skip = 0;
    }
  }

  /**
   * Rows of one shape (depth and length of the path) are neighbours in the relevance order: counting rows by shape tells
   * where the page begins, and only the shapes it touches are walked.
   */
  #pageByShapes(
    match: Match,
    tier: number,
    filter: VersionFilter,
    counts: Counts,
    start: number,
    want: number,
    page: number,
  ): void {
    const { kernels } = this.#memory;
    const { rows, entries, versions } = this.#orders.relevance;
    const shapes = this.#shapeCounts.length;
    kernels.countShapes(match.entryTier, match.entryList, match.entries, tier, counts.entryRows, shapes);
    kernels.packEntryBits(match.entryTier, tier);
    let skip = start;
    let found = 0;
    for (let shape = 0; found < want; shape++) {
      const size = this.#shapeCounts[shape]!;
      if (size <= skip) {
        skip -= size;
        continue;
      }
      const [from, to] = [this.#shapeStarts[shape]!, this.#shapeStarts[shape + 1]!];
      const at = page + found * 4;
      const { low, span } = filter;
      found += kernels.walkForwards(rows, entries, versions, low, span, from, to, skip, want - found, at);
      skip = 0;
    }
  }

  /** Walks the order from its nearer end, or marks every row of the result: whichever looks at fewer rows. */
  #pageByOrder(
    order: Order,
    match: Match,
    filter: VersionFilter,
    total: number,
    start: number,
    want: number,
    page: number,
  ): void {
    const fromEnd = total - start - want;
    const walked = (Math.min(start, fromEnd) + want) * (this.#rows / total) * this.#planning.costs.walk;
    if (walked > this.#scatterCost(match, filter)) {
      this.#pageByBits(order, match, 0, filter, start, want, page);
      return;
    }
    const { kernels } = this.#memory;
    const { rows, entries, versions } = order;
    const { low, span } = filter;
    kernels.packEntryBits(match.entryTier, 0);
    if (start <= fromEnd) {
      kernels.walkForwards(rows, entries, versions, low, span, 0, this.#rows, start, want, page);
      return;
    }
    kernels.walkBackwards(rows, entries, versions, low, span, fromEnd, want, page);
    this.#memory.view(page, want).reverse();
  }

  #scatterCost(match: Match, filter: VersionFilter): number {
    const byEntries = match.rows * this.#planning.costs.scatterEntry;
    if (filter === ANY_VERSION)
      return Math.min(byEntries, (this.#rows - match.rows) * this.#planning.costs.scatterEntry);
    return Math.min(byEntries, (filter.lastRow - filter.firstRow) * this.#planning.costs.scatterVersion);
  }

  /** Marks every row of the result by its rank, then counts marks. */
  #pageByBits(
    order: Order,
    match: Match,
    tier: number,
    filter: VersionFilter,
    start: number,
    want: number,
    page: number,
  ): void {
    const { kernels } = this.#memory;
    const { entryTier, entryList, entries } = match;
    const candidates = tier === 0 ? match.rows : match.tierRows[tier]!;
    const isFiltered = filter !== ANY_VERSION;
    if (
      isFiltered &&
      isCheaperByVersion(candidates, filter, this.#planning.costs.scatterEntry, this.#planning.costs.scatterVersion)
    ) {
      kernels.scatterVersions(order.ranks, entryTier, tier, filter.firstRow, filter.lastRow);
    } else if (!isFiltered && tier === 0 && match.rows * 2 > this.#rows) {
      kernels.scatterOthers(order.ranks, entryTier);
    } else {
      kernels.scatterEntries(order.ranks, entryTier, entryList, entries, tier, filter.low, filter.span);
    }
    kernels.takeBits(this.#memory.place("rankBits"), this.#rows, order.rows, start, want, page);
  }
}

function isCheaperByVersion(rows: number, filter: VersionFilter, entryCost: number, versionCost: number): boolean {
  return (filter.lastRow - filter.firstRow) * versionCost < rows * entryCost;
}
