import type { OpenIndex } from "./open-index.js";
import type { RangeRecord, StoredRecord } from "./range-record.js";

/** A commit is stored as 40 characters of hash and 20 of timestamp. */
const HASH_LENGTH = 40;
const COMMIT_LENGTH = 60;

/** Reads single records out of an index; for the hot paths the kernels render JSON directly instead. */
export class RecordReader {
  readonly #rowEntry: Uint32Array;
  readonly #rowVersion: Uint32Array;
  readonly #rowFirstCommit: Uint32Array;
  readonly #rowLastCommit: Uint32Array;
  readonly #rowDetail: Uint32Array;
  readonly #entryAttributePath: Uint32Array;
  readonly #entryName: Uint32Array;
  readonly #entryLicense: Uint32Array;
  readonly #commits: Buffer;
  readonly #index: OpenIndex;
  readonly #texts = new Map<string, TextTable>();
  readonly #details = new Map<string, Uint32Array>();

  constructor(index: OpenIndex) {
    this.#index = index;
    this.#rowEntry = index.numbers("rowEntry");
    this.#rowVersion = index.numbers("rowVersion");
    this.#rowFirstCommit = index.numbers("rowFirstCommit");
    this.#rowLastCommit = index.numbers("rowLastCommit");
    this.#rowDetail = index.numbers("rowDetail");
    this.#entryAttributePath = index.numbers("entryAttributePath");
    this.#entryName = index.numbers("entryName");
    this.#entryLicense = index.numbers("entryLicense");
    const commits = index.bytes("commits");
    this.#commits = Buffer.from(commits.buffer, commits.byteOffset, commits.length);
  }

  get count(): number {
    return this.#rowEntry.length;
  }

  read(row: number): StoredRecord {
    const entry = this.#rowEntry[row]!;
    const first = this.#commit(this.#rowFirstCommit[row]!);
    const last = this.#commit(this.#rowLastCommit[row]!);
    return {
      id: row + 1,
      attributePath: this.#text("attributePath", this.#entryAttributePath[entry]!) as string,
      name: this.#text("name", this.#entryName[entry]!) as string,
      version: this.#text("version", this.#rowVersion[row]!) as string,
      description: this.#detail("description", row) as string | null,
      license: this.#text("license", this.#entryLicense[entry]!) as string | null,
      firstCommitHash: first.hash,
      firstCommitDate: first.date,
      lastCommitHash: last.hash,
      lastCommitDate: last.date,
      homepage: this.#detail("homepage", row) as string | null,
      maintainers: this.#detail("maintainers", row) as string[] | null,
      platforms: this.#detail("platforms", row) as string[] | null,
      sourcePath: this.#detail("sourcePath", row) as string | null,
      knownVulnerabilities: this.#detail("knownVulnerabilities", row) as string[] | null,
    };
  }

  #commit(number: number): { hash: string; date: number } {
    const at = number * COMMIT_LENGTH;
    const text = this.#commits.toString("latin1", at, at + COMMIT_LENGTH);
    return { hash: text.slice(0, HASH_LENGTH), date: Date.parse(text.slice(HASH_LENGTH)) / 1000 };
  }

  #detail(field: string, row: number): unknown {
    let column = this.#details.get(field);
    if (column === undefined) {
      column = this.#index.numbers(`detail:${field}`);
      this.#details.set(field, column);
    }
    return this.#text(field, column[this.#rowDetail[row]!]!);
  }

  #text(dictionary: string, number: number): unknown {
    let table = this.#texts.get(dictionary);
    if (table === undefined) {
      table = new TextTable(this.#index, dictionary);
      this.#texts.set(dictionary, table);
    }
    return JSON.parse(table.text(number));
  }
}

/** The strings of one dictionary of an index. */
export class TextTable {
  readonly #bytes: Buffer;
  readonly #at: Uint32Array;

  constructor(index: OpenIndex, name: string) {
    const bytes = index.bytes(`${name}Text`);
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#at = index.numbers(`${name}At`);
  }

  get count(): number {
    return this.#at.length - 1;
  }

  /** As stored: a JSON literal in the dictionaries of record fields. */
  text(number: number): string {
    return this.#bytes.toString("utf8", this.#at[number], this.#at[number + 1]);
  }
}

/** All records of an index in the order of their ids, one at a time. */
export function* readRecords(index: OpenIndex): Generator<StoredRecord> {
  const reader = new RecordReader(index);
  for (let row = 0; row < reader.count; row++) yield reader.read(row);
}

/** The input form of a stored record: what `writeIndex` takes. */
export function toRangeRecord({ id: _, ...record }: StoredRecord): RangeRecord {
  return record;
}
