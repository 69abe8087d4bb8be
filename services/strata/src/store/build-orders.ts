import type { RowTable } from "./build-rows.js";
import type { CollectedRecords } from "./collect-records.js";
import { descending, gather, groupStarts, invertOrder, sortByKeys } from "./sort-by-keys.js";

/** One total order of all rows, laid out for walking it with nothing but sequential reads. */
export interface RowOrder {
  /** The rows in this order, and the entry and version number of each, in this order too. */
  readonly rows: Uint32Array;
  readonly entries: Uint32Array;
  readonly versions: Uint32Array;
  /** By row: its place in this order. */
  readonly ranks: Uint32Array;
}

export interface RowOrders {
  /** Inside a relevance tier: shallow paths, short paths, newest date, newest version, id. */
  readonly relevance: RowOrder;
  /** By entry: the shape (depth and length) of its path; shapes are numbered in relevance order. */
  readonly entryShape: Uint32Array;
  /** By shape: where its rows begin in the relevance order, with a closing element. */
  readonly shapeStarts: Uint32Array;
  /** Newest last commit first. */
  readonly date: RowOrder;
  /** Nix version order, ascending. */
  readonly version: RowOrder;
  /** Rows grouped by version number (folded text order), for filters: `versionRowStarts` has a closing element. */
  readonly versionRows: Uint32Array;
  readonly versionEntries: Uint32Array;
  readonly versionRowStarts: Uint32Array;
  /** Entries by name (code point), then id: the name order of rows is that of their entries. */
  readonly nameEntries: Uint32Array;
  /** By name: where its entries begin in `nameEntries`, with a closing element. */
  readonly nameEntryStarts: Uint32Array;
}

export function buildOrders(records: CollectedRecords, table: RowTable): RowOrders {
  const oldestLast = descending(gather(table.commitDateClass, table.rowLastCommit));
  const versionClass = gather(table.versionClass, table.rowVersion);
  const pathShape = classifyShapes(records.attributePaths);
  const entryShape = gather(pathShape.shapes, table.entryAttributePath);
  const rowShape = gather(entryShape, table.rowEntry);
  const relevanceRows = sortByKeys(table.rows, [rowShape, oldestLast, descending(versionClass)]);
  const versionRows = sortByKeys(table.rows, [table.rowVersion]);
  const nameEntries = sortByKeys(table.entries, [table.entryName]);
  return {
    relevance: layOut(table, relevanceRows),
    entryShape,
    shapeStarts: groupStarts(gather(rowShape, relevanceRows), pathShape.count),
    date: layOut(table, sortByKeys(table.rows, [oldestLast])),
    version: layOut(table, sortByKeys(table.rows, [versionClass])),
    versionRows,
    versionEntries: gather(table.rowEntry, versionRows),
    versionRowStarts: groupStarts(gather(table.rowVersion, versionRows), records.versions.length),
    nameEntries,
    nameEntryStarts: groupStarts(gather(table.entryName, nameEntries), records.names.length),
  };
}

function layOut(table: RowTable, rows: Uint32Array): RowOrder {
  return {
    rows,
    entries: gather(table.rowEntry, rows),
    versions: gather(table.rowVersion, rows),
    ranks: invertOrder(rows),
  };
}

/** Fewer dots first, then fewer characters (code points). */
function classifyShapes(paths: readonly string[]): { shapes: Uint32Array; count: number } {
  const dots = Uint32Array.from(paths, (path) => path.split(".").length - 1);
  const lengths = Uint32Array.from(paths, (path) => [...path].length);
  const order = sortByKeys(paths.length, [dots, lengths]);
  const shapes = new Uint32Array(paths.length);
  let current = 0;
  for (let i = 1; i < order.length; i++) {
    const [path, previous] = [order[i]!, order[i - 1]!];
    if (dots[path] !== dots[previous] || lengths[path] !== lengths[previous]) current++;
    shapes[path] = current;
  }
  return { shapes, count: paths.length === 0 ? 0 : current + 1 };
}
