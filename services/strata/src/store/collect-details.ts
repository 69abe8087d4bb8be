import { GrowingColumn } from "./growing-column.js";
import { InternTable } from "./intern-table.js";
import type { RangeRecord } from "./range-record.js";
import { gather, invertOrder, sortByKeys } from "./sort-by-keys.js";

/** Everything about a record that no query filters or sorts by. */
export const DETAIL_FIELDS = [
  "description",
  "homepage",
  "maintainers",
  "platforms",
  "sourcePath",
  "knownVulnerabilities",
] as const satisfies readonly (keyof RangeRecord)[];
type DetailField = (typeof DETAIL_FIELDS)[number];

/** One field of all details: its distinct JSON texts, sorted (many packages share a platform list), and by detail which it has. */
interface DetailColumn {
  readonly texts: string[];
  readonly numbers: Uint32Array;
}

export type DetailTable = Readonly<Record<DetailField, DetailColumn>>;

/** Gives equal details one number. */
export class DetailCollector {
  readonly #tables = DETAIL_FIELDS.map(() => new InternTable<string | readonly string[] | null>("json"));
  readonly #columns = DETAIL_FIELDS.map(() => new GrowingColumn());
  readonly #numbers = new Map<string, number>();
  readonly #found = new Uint32Array(DETAIL_FIELDS.length);

  intern(record: RangeRecord): number {
    const found = this.#found;
    for (let i = 0; i < found.length; i++) found[i] = this.#tables[i]!.intern(record[DETAIL_FIELDS[i]!]);
    const key = found.join();
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(key, number);
    for (let i = 0; i < found.length; i++) this.#columns[i]!.push(found[i]!);
    return number;
  }

  /** The details by their texts, field after field, and for each old number the new one. */
  sort(): { sorted: DetailTable; newNumbers: Uint32Array } {
    const tables = this.#tables.map((table) => table.sort());
    const columns = tables.map(({ newNumbers }, i) => gather(newNumbers, this.#columns[i]!.toColumn()));
    const order = sortByKeys(this.#numbers.size, columns);
    const sorted = Object.fromEntries(
      DETAIL_FIELDS.map((field, i) => [field, { texts: tables[i]!.sorted, numbers: gather(columns[i]!, order) }]),
    );
    return { sorted: sorted as Record<DetailField, DetailColumn>, newNumbers: invertOrder(order) };
  }
}
