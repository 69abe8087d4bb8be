import { GrowableColumn } from "./growable-column.js";
import type { PackageFacts } from "./read-entry.js";

/**
 * Every distinct (attribute path, facts) that was ever observed, once: the alphabet in which observations are written down. Strings are kept in one
 * dictionary per field, records as ten columns of string numbers.
 */

/** The fields of a record, in the order in which they are stored. Append only: the order is part of the file format. */
export const RECORD_FIELDS = [
  "attributePath",
  "name",
  "version",
  "description",
  "license",
  "homepage",
  "maintainers",
  "platforms",
  "sourcePath",
  "knownVulnerabilities",
] as const;
export type RecordField = (typeof RECORD_FIELDS)[number];

/** The number of "nothing is known" in every dictionary. */
const NOTHING = 0;

export class StringDictionary {
  private readonly numbers = new Map<string, number>();

  /** strings[0] stands for "nothing is known". */
  constructor(readonly strings: string[] = [""]) {
    for (let number = 1; number < strings.length; number++) {
      this.numbers.set(strings[number]!, number);
    }
  }

  numberOf(text: string | null): number {
    if (text === null) {
      return NOTHING;
    }
    let number = this.numbers.get(text);
    if (number === undefined) {
      number = this.strings.length;
      this.strings.push(text);
      this.numbers.set(text, number);
    }
    return number;
  }

  /** Its number, or undefined when it never occurred. */
  find(text: string): number | undefined {
    return this.numbers.get(text);
  }

  textOf(number: number): string | null {
    return number === NOTHING ? null : this.strings[number]!;
  }
}

export class RecordTable {
  readonly dictionaries: Record<RecordField, StringDictionary>;
  readonly columns: Record<RecordField, GrowableColumn>;
  private slots = new Int32Array(1 << 16).fill(-1);
  private readonly parsedLists = forEachField((): (string[] | undefined)[] => []);
  private readonly row = new Int32Array(RECORD_FIELDS.length);

  constructor(stored?: { strings: Record<RecordField, string[]>; columns: Record<RecordField, Int32Array> }) {
    this.dictionaries = forEachField((field) => new StringDictionary(stored?.strings[field]));
    this.columns = forEachField((field) => new GrowableColumn(stored?.columns[field]));
    this.rehash(this.slots.length);
  }

  get size(): number {
    return this.columns.attributePath.length;
  }

  /** The number of this record; the same facts always give the same number. */
  numberOf(attributePath: string, facts: PackageFacts): number {
    const { row, dictionaries } = this;
    row[0] = dictionaries.attributePath.numberOf(attributePath);
    row[1] = dictionaries.name.numberOf(facts.name);
    row[2] = dictionaries.version.numberOf(facts.version);
    row[3] = dictionaries.description.numberOf(facts.description);
    row[4] = dictionaries.license.numberOf(facts.license);
    row[5] = dictionaries.homepage.numberOf(facts.homepage);
    row[6] = dictionaries.maintainers.numberOf(listText(facts.maintainers));
    row[7] = dictionaries.platforms.numberOf(listText(facts.platforms));
    row[8] = dictionaries.sourcePath.numberOf(facts.sourcePath);
    row[9] = dictionaries.knownVulnerabilities.numberOf(listText(facts.knownVulnerabilities));
    return this.findOrAdd();
  }

  /** The facts of a record, and its attribute path. */
  read(record: number): PackageFacts & { attributePath: string } {
    return {
      attributePath: this.text("attributePath", record)!,
      name: this.text("name", record)!,
      version: this.text("version", record)!,
      description: this.text("description", record),
      license: this.text("license", record),
      homepage: this.text("homepage", record),
      maintainers: this.list("maintainers", record),
      platforms: this.list("platforms", record),
      sourcePath: this.text("sourcePath", record),
      knownVulnerabilities: this.list("knownVulnerabilities", record),
    };
  }

  private text(field: RecordField, record: number): string | null {
    return this.dictionaries[field].textOf(this.columns[field].get(record));
  }

  /** Lists repeat a great deal: each is parsed once, and all records that have it share it. */
  private list(field: RecordField, record: number): string[] | null {
    const number = this.columns[field].get(record);
    const text = this.dictionaries[field].textOf(number);
    if (text === null) {
      return null;
    }
    let parsed = this.parsedLists[field][number];
    if (parsed === undefined) {
      parsed = JSON.parse(text) as string[];
      this.parsedLists[field][number] = parsed;
    }
    return parsed;
  }

  private findOrAdd(): number {
    if (this.size * 2 >= this.slots.length) {
      this.rehash(this.slots.length * 2);
    }
    const mask = this.slots.length - 1;
    let slot = hashRow(this.row) & mask;
    for (let found = this.slots[slot]!; found !== -1; found = this.slots[slot]!) {
      if (this.equals(found)) {
        return found;
      }
      slot = (slot + 1) & mask;
    }
    const record = this.size;
    this.slots[slot] = record;
    for (let field = 0; field < RECORD_FIELDS.length; field++) {
      this.columns[RECORD_FIELDS[field]!].push(this.row[field]!);
    }
    return record;
  }

  private equals(record: number): boolean {
    for (let field = 0; field < RECORD_FIELDS.length; field++) {
      if (this.columns[RECORD_FIELDS[field]!].get(record) !== this.row[field]) {
        return false;
      }
    }
    return true;
  }

  private rehash(atLeast: number): void {
    let capacity = atLeast;
    while (this.size * 2 >= capacity) {
      capacity *= 2;
    }
    this.slots = new Int32Array(capacity).fill(-1);
    const other = new Int32Array(RECORD_FIELDS.length);
    for (let record = 0; record < this.size; record++) {
      for (let field = 0; field < RECORD_FIELDS.length; field++) {
        other[field] = this.columns[RECORD_FIELDS[field]!].get(record);
      }
      let slot = hashRow(other) & (capacity - 1);
      while (this.slots[slot] !== -1) {
        slot = (slot + 1) & (capacity - 1);
      }
      this.slots[slot] = record;
    }
  }
}

/** Lists of platforms are this long and longer, and the reader gives one array for all entries that say the same: they are written once. */
const LONG_LIST = 6;
const writtenLists = new WeakMap<string[], string>();

function listText(list: string[] | null): string | null {
  if (list === null) {
    return null;
  }
  if (list.length < LONG_LIST) {
    return JSON.stringify(list);
  }
  let text = writtenLists.get(list);
  if (text === undefined) {
    text = JSON.stringify(list);
    writtenLists.set(list, text);
  }
  return text;
}

function hashRow(row: Int32Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < row.length; at++) {
    hash = Math.imul(hash ^ row[at]!, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

export function forEachField<Value>(make: (field: RecordField) => Value): Record<RecordField, Value> {
  const made = {} as Record<RecordField, Value>;
  for (const field of RECORD_FIELDS) {
    made[field] = make(field);
  }
  return made;
}
