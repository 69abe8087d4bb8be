import type { EngineMemory } from "./engine-memory.js";
import { ALL_ENTRIES, type Match, TIERS } from "./match-packages.js";
import type { Order, OrderPages, PagePart } from "./page-by-order.js";
import { ANY_VERSION, type VersionFilter } from "./version-filter.js";

/** How many rows of each tier count; and, where they were counted together, of each tier and shape. */
export interface TierCounts {
  readonly tierRows: readonly number[];
  readonly total: number;
  /** For each tier the rows of each shape; undefined: not counted. */
  readonly tierShapes: Uint32Array | undefined;
  /** Address of the rows of each entry that count; 0: not counted. */
  readonly entryRows: number;
}

/** Codes of tier and shape have two bytes. */
const LARGEST_CODE = 0xffff;

/**
 * Finds a page by relevance: the best tier first, inside a tier the relevance order. Rows of one shape (depth and length of
 * the path) are neighbours in that order: counting rows by shape tells where a page begins, and only the shapes it touches
 * are walked.
 */
export class RelevancePages {
  readonly #memory: EngineMemory;
  readonly #orders: OrderPages;
  readonly #order: Order;
  readonly #shapeStarts: Uint32Array;
  readonly #shapes: number;
  readonly #shapeCounts: Uint32Array;
  readonly #tierShapes: Uint32Array;

  constructor(memory: EngineMemory, orders: OrderPages) {
    this.#memory = memory;
    this.#orders = orders;
    this.#order = orders.order("relevance", { byVersion: false });
    this.#shapeStarts = memory.index.numbers("shapeStarts");
    this.#shapes = this.#shapeStarts.length - 1;
    this.#shapeCounts = memory.view(memory.place("shapeCounts"), this.#shapes);
    this.#tierShapes = memory.view(memory.place("tierShapes"), this.#shapes * TIERS);
  }

  count(match: Match, filter: VersionFilter): TierCounts {
    if (match.entryList === ALL_ENTRIES && this.#shapes * TIERS <= LARGEST_CODE) return this.#countAll(match, filter);
    const { index, kernels } = this.#memory;
    if (filter === ANY_VERSION && match.tierRows !== undefined) {
      return { ...sumUp(match.tierRows), tierShapes: undefined, entryRows: index.address("entrySize") };
    }
    const entryRows = this.countEntries(match, filter);
    const sums = this.#memory.place("result");
    kernels.sumTiers(match.entryTier, match.entryList, match.entries, entryRows, sums);
    return { ...sumUp([...this.#memory.view(sums, TIERS)]), tierShapes: undefined, entryRows };
  }

  #countAll(match: Match, filter: VersionFilter): TierCounts {
    const { index, kernels, planning } = this.#memory;
    const { countEntry, countVersion } = planning.costs;
    const counts = this.#tierShapes;
    const { firstRow, lastRow } = filter;
    if (filter === ANY_VERSION) {
      kernels.countTierShapes(match.entryTier, index.address("entrySize"), this.#shapes, counts.byteOffset);
    } else if ((lastRow - firstRow) * countVersion < match.rows * countEntry) {
      kernels.countTierShapesByVersions(match.entryTier, firstRow, lastRow, this.#shapes, counts.byteOffset);
    } else {
      kernels.countByEntries(match.entryList, match.entries, filter.low, filter.span);
      kernels.countTierShapes(match.entryTier, this.#memory.place("entryCounts"), this.#shapes, counts.byteOffset);
    }
    const tierRows = Array.from({ length: TIERS }, (_, tier) =>
      tier === 0 ? 0 : this.#shapesOf(tier).reduce((sum, rows) => sum + rows, 0),
    );
    return { ...sumUp(tierRows), tierShapes: counts, entryRows: 0 };
  }

  #shapesOf(tier: number): Uint32Array {
    return this.#tierShapes.subarray(tier * this.#shapes, (tier + 1) * this.#shapes);
  }

  /** The rows of each entry that pass the filter; returns their address. */
  countEntries(match: Match, filter: VersionFilter): number {
    const { index, kernels, planning } = this.#memory;
    if (filter === ANY_VERSION) return index.address("entrySize");
    const { countEntry, countVersion } = planning.costs;
    if ((filter.lastRow - filter.firstRow) * countVersion < match.rows * countEntry) {
      kernels.countByVersions(filter.firstRow, filter.lastRow);
    } else {
      kernels.countByEntries(match.entryList, match.entries, filter.low, filter.span);
    }
    return this.#memory.place("entryCounts");
  }

  take(match: Match, filter: VersionFilter, counts: TierCounts, { start, want, address }: PagePart): void {
    let skip = start;
    let found = 0;
    for (let tier = TIERS - 1; tier > 0 && found < want; tier--) {
      const size = counts.tierRows[tier]!;
      if (size <= skip) {
        skip -= size;
        continue;
      }
      const part = { start: skip, want: Math.min(size - skip, want - found), address: address + found * 4 };
      this.#takeTier(match, tier, filter, counts, part);
      found += part.want;
      skip = 0;
    }
  }

  /** Walks the shapes that the page touches, or marks the tier's rows: whichever looks at fewer. */
  #takeTier(match: Match, tier: number, filter: VersionFilter, counts: TierCounts, part: PagePart): void {
    this.#memory.kernels.packEntryBits(match.entryTier, tier);
    const size = counts.tierRows[tier]!;
    const unfiltered = match.tierRows?.[tier] ?? match.rows * (size / counts.total);
    const shapeRows = this.#shapeRows(match, tier, counts);
    const walking =
      shapeRows === undefined ? Infinity : this.#placesOf(shapeRows, part) * this.#memory.planning.costs.walk;
    if (shapeRows !== undefined && walking <= this.#orders.scatterCost(unfiltered, filter)) {
      this.#takeByShapes(shapeRows, filter, part);
    } else {
      this.#orders.scatter(this.#order, unfiltered, filter, part);
    }
  }

  /** How many places of the order belong to the shapes that a page touches. */
  #placesOf(shapeRows: Uint32Array, { start, want }: PagePart): number {
    let places = 0;
    let before = 0;
    for (let shape = 0; before < start + want; shape++) {
      before += shapeRows[shape]!;
      if (shapeRows[shape]! > 0 && before > start) places += this.#shapeStarts[shape + 1]! - this.#shapeStarts[shape]!;
    }
    return places;
  }

  #takeByShapes(shapeRows: Uint32Array, filter: VersionFilter, part: PagePart): void {
    const { kernels } = this.#memory;
    const { rows, entries, versions } = this.#order;
    let skip = part.start;
    let found = 0;
    for (let shape = 0; found < part.want; shape++) {
      const size = shapeRows[shape]!;
      if (size <= skip) {
        skip -= size;
        continue;
      }
      const [from, to] = [this.#shapeStarts[shape]!, this.#shapeStarts[shape + 1]!];
      const { low, span } = filter;
      const [left, at] = [part.want - found, part.address + found * 4];
      found += kernels.walkForwards(rows, entries, versions, 0, ONE_BLOCK, low, span, from, to, skip, left, at);
      skip = 0;
    }
  }

  /** The rows of a tier by shape, where they are known or worth counting. */
  #shapeRows(match: Match, tier: number, counts: TierCounts): Uint32Array | undefined {
    if (counts.tierShapes !== undefined) return this.#shapesOf(tier);
    if (counts.tierRows[tier]! < this.#memory.planning.shapeRows) return undefined;
    const { entryTier, entryList, entries } = match;
    this.#memory.kernels.countShapes(entryTier, entryList, entries, tier, counts.entryRows, this.#shapes);
    return this.#shapeCounts;
  }
}

/** Blocks so large that the whole order is one. */
const ONE_BLOCK = 31;

function sumUp(tierRows: readonly number[]): { tierRows: readonly number[]; total: number } {
  return { tierRows, total: tierRows.reduce((sum, rows) => sum + rows, 0) };
}
