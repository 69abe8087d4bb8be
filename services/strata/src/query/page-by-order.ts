import type { EngineMemory } from "./engine-memory.js";
import type { Match } from "./match-packages.js";
import type { Planning } from "./planning.js";
import { ANY_VERSION, type VersionFilter } from "./version-filter.js";

/** One of the file's orders of all rows: the addresses of its columns. */
export interface Order {
  readonly rows: number;
  readonly entries: number;
  readonly versions: number;
  readonly ranks: number;
  /** The range of versions of each block of places; 0 where that would say nothing. */
  readonly ranges: number;
}

/** The part of a result that a page shows, and where it is to be put. */
export interface PagePart {
  readonly start: number;
  readonly want: number;
  readonly address: number;
}

/** Finds a page in one of the file's orders. The result's entries must be in the kernels' set (`packEntryBits`). */
export class OrderPages {
  readonly #memory: EngineMemory;
  readonly #planning: Planning;
  readonly #rows: number;

  constructor(memory: EngineMemory) {
    this.#memory = memory;
    this.#planning = memory.planning;
    this.#rows = memory.index.numbers("rowEntry").length;
  }

  /** Opens an order; `byVersion`: versions that are near each other in it have near numbers. */
  order(name: string, options: { byVersion: boolean }): Order {
    const { index, kernels } = this.#memory;
    const versions = index.address(`${name}Order:versions`);
    const ranges = options.byVersion ? this.#memory.place("versionRanges") : 0;
    if (options.byVersion) kernels.summarizeVersions(versions, this.#planning.blockBits, ranges);
    return {
      rows: index.address(`${name}Order:rows`),
      entries: index.address(`${name}Order:entries`),
      versions,
      ranks: index.address(`${name}Order:ranks`),
      ranges,
    };
  }

  /** How many rows of the set the filter lets through. */
  count(match: Match, filter: VersionFilter): number {
    if (filter === ANY_VERSION) return match.rows;
    const { kernels } = this.#memory;
    const { countEntry, countVersion } = this.#planning.costs;
    return filteredRows(filter) * countVersion < match.rows * countEntry
      ? kernels.countMarkedVersions(filter.firstRow, filter.lastRow) >>> 0
      : kernels.countMarkedEntries(filter.low, filter.span) >>> 0;
  }

  /** Whichever way looks at the fewest rows: walking from an end, jumping to a guessed place, or marking the result. */
  take(order: Order, match: Match, filter: VersionFilter, total: number, part: PagePart): void {
    const { walk, seek } = this.#planning.costs;
    const fromEnd = total - part.start - part.want;
    // Of an order with ranges only the blocks with versions of the filter are read.
    const read = order.ranges !== 0 && filter !== ANY_VERSION ? filteredRows(filter) : this.#rows;
    const walking = (Math.min(part.start, fromEnd) + part.want) * (read / total) * walk;
    const seeking = this.#seekRows(match, filter) * seek + this.#guessCost(total);
    const marking = this.scatterCost(match.rows, filter);
    if (walking <= seeking && walking <= marking) this.#walk(order, filter, fromEnd, part);
    else if (seeking <= marking) this.#seek(order, match, filter, total, part);
    else this.scatter(order, match.rows, filter, part);
  }

  #walk(order: Order, { low, span }: VersionFilter, fromEnd: number, { start, want, address }: PagePart): void {
    const { kernels } = this.#memory;
    const { rows, entries, versions, ranges } = order;
    const { blockBits } = this.#planning;
    if (start <= fromEnd) {
      const end = this.#rows;
      kernels.walkForwards(rows, entries, versions, ranges, blockBits, low, span, 0, end, start, want, address);
      return;
    }
    kernels.walkBackwards(rows, entries, versions, ranges, blockBits, low, span, fromEnd, want, address);
    this.#memory.view(address, want).reverse();
  }

  #seek(order: Order, match: Match, filter: VersionFilter, total: number, { start, want, address }: PagePart): void {
    const { kernels } = this.#memory;
    const { rows, entries, versions, ranks } = order;
    const { low, span } = filter;
    const place = kernels.guessPlace(ranks, low, span, this.#planning.sampleEvery, start, total) >>> 0;
    const others = this.#hasFewOthers(match, filter) ? 1 : 0;
    const before = kernels.countBefore(ranks, low, span, others, place) >>> 0;
    kernels.walkFrom(rows, entries, versions, low, span, place, before, start, want, address);
  }

  /** Marks every row of the set by its place in the order, then counts marks. `rows`: how many the set has without the filter. */
  scatter(order: Order, rows: number, filter: VersionFilter, { start, want, address }: PagePart): void {
    const { kernels } = this.#memory;
    const { scatterEntry, scatterVersion } = this.#planning.costs;
    if (filter !== ANY_VERSION && filteredRows(filter) * scatterVersion < rows * scatterEntry) {
      kernels.scatterVersions(order.ranks, filter.firstRow, filter.lastRow);
    } else {
      kernels.scatterEntries(order.ranks, filter.low, filter.span);
    }
    kernels.takeBits(order.rows, start, want, address);
  }

  scatterCost(rows: number, filter: VersionFilter): number {
    const { scatterEntry, scatterVersion } = this.#planning.costs;
    const byEntries = rows * scatterEntry;
    const setting = filter === ANY_VERSION ? byEntries : Math.min(byEntries, filteredRows(filter) * scatterVersion);
    // The bits of all rows are cleared and read again: a hundredth of what setting them would cost.
    return setting + (this.#rows * scatterEntry) / 100;
  }

  #seekRows(match: Match, filter: VersionFilter): number {
    if (filter !== ANY_VERSION) return match.rows * 2;
    return Math.min(match.rows, this.#rows - match.rows);
  }

  /** The sample, and the way from the guessed place to the right one: the fewer rows were sampled, the farther. */
  #guessCost(total: number): number {
    const { costs, sampleEvery } = this.#planning;
    const sampled = Math.max(1, total / sampleEvery);
    return (this.#rows / sampleEvery) * costs.sample + (this.#rows / (2 * Math.sqrt(sampled))) * costs.walk;
  }

  #hasFewOthers(match: Match, filter: VersionFilter): boolean {
    return filter === ANY_VERSION && match.rows * 2 > this.#rows;
  }
}

function filteredRows(filter: VersionFilter): number {
  return filter.lastRow - filter.firstRow;
}
