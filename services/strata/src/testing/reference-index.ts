import type { SearchQuery } from "../query/search-packages.js";
import { compareCodePoints, foldAscii } from "../store/compare-code-points.js";
import { splitWords, stemWord } from "../store/description-words.js";
import type { RangeRecord, StoredRecord } from "../store/range-record.js";

/**
 * The rules of the API, written the plain way over an array: what the engine is compared with. It shares nothing with the
 * engine but the splitting of words, the folding and the types; above all not the order of versions.
 */
export class ReferenceIndex {
  readonly records: readonly StoredRecord[];

  /** `records` with the ids the index gave them. */
  constructor(records: readonly StoredRecord[]) {
    this.records = records;
  }

  search(query: SearchQuery): { total: number; ids: number[] } {
    const found = this.records
      .map((record) => ({ record, tier: tierOf(record, query) }))
      .filter(({ tier, record }) => tier > 0 && passes(record, query));
    found.sort((a, b) => compare(a, b, query.sort));
    if (query.reverse) found.reverse();
    return {
      total: found.length,
      ids: found.slice(query.offset, query.offset + query.limit).map(({ record }) => record.id),
    };
  }

  /** Which packages a description search finds, as a set of ids; the ranking has no plain rule. */
  searchDescriptions(q: string): Set<number> {
    const parts = q.split('"');
    const phrases = parts.filter((_, i) => i % 2 === 1 && i < parts.length - 1).map(splitWords);
    const words = parts.flatMap(splitWords);
    if (words.length === 0) return new Set();
    const closesWithPhrase = parts.length >= 3 && parts.length % 2 === 1 && splitWords(parts.at(-1)!).length === 0;
    const lastByPrefix = closesWithPhrase && splitWords(parts.at(-2)!).length > 0 ? undefined : words.at(-1);
    return new Set(
      this.#newestVersions()
        .filter((record) => matchesDescription(record, words, phrases, lastByPrefix))
        .map(({ id }) => id),
    );
  }

  packageRecords(attributePath: string): StoredRecord[] {
    return this.records
      .filter((record) => record.attributePath === attributePath)
      .sort((a, b) => b.lastCommitDate - a.lastCommitDate || compareNixVersions(b.version, a.version) || a.id - b.id);
  }

  #newestVersions(): StoredRecord[] {
    const newest = new Map<string, StoredRecord>();
    for (const record of this.records) {
      const known = newest.get(record.attributePath);
      if (
        known === undefined ||
        (compareNixVersions(record.version, known.version) ||
          record.lastCommitDate - known.lastCommitDate ||
          known.id - record.id) > 0
      ) {
        newest.set(record.attributePath, record);
      }
    }
    return [...newest.values()];
  }
}

function tierOf(record: RangeRecord, query: SearchQuery): number {
  if (query.exact && record.attributePath !== query.q && record.name !== query.q) return 0;
  const q = foldAscii(query.q);
  const path = foldAscii(record.attributePath);
  const name = foldAscii(record.name);
  const leaf = path.slice(path.lastIndexOf(".") + 1);
  if (path === q) return 6;
  if (name === q || leaf === q) return 5;
  if (path.startsWith(q)) return 4;
  if (leaf.startsWith(q) || name.startsWith(q)) return 3;
  if (startsWord(path, q) || startsWord(name, q)) return 2;
  return path.includes(q) || name.includes(q) ? 1 : 0;
}

function startsWord(text: string, q: string): boolean {
  const isWordCharacter = (character: string) => /[a-z0-9]/.test(character) || character > "\u007f";
  for (let at = text.indexOf(q); at >= 0; at = text.indexOf(q, at + 1)) {
    if (isWordCharacter(text[at]!) && (at === 0 || !isWordCharacter(text[at - 1]!))) return true;
  }
  return false;
}

function passes(record: RangeRecord, { version, license }: SearchQuery): boolean {
  if (version !== null && !foldAscii(record.version).startsWith(foldAscii(version))) return false;
  return license === null || (record.license !== null && foldAscii(record.license).includes(foldAscii(license)));
}

interface Found {
  readonly record: StoredRecord;
  readonly tier: number;
}

function compare(a: Found, b: Found, sort: SearchQuery["sort"]): number {
  const [x, y] = [a.record, b.record];
  if (sort === "date") return y.lastCommitDate - x.lastCommitDate || x.id - y.id;
  if (sort === "version") return compareNixVersions(x.version, y.version) || x.id - y.id;
  if (sort === "name") return compareCodePoints(x.name, y.name) || x.id - y.id;
  const dots = (record: RangeRecord) => record.attributePath.split(".").length;
  const length = (record: RangeRecord) => [...record.attributePath].length;
  return (
    b.tier - a.tier ||
    dots(x) - dots(y) ||
    length(x) - length(y) ||
    y.lastCommitDate - x.lastCommitDate ||
    compareNixVersions(y.version, x.version) ||
    x.id - y.id
  );
}

/** `builtins.compareVersions`, component by component. */
export function compareNixVersions(a: string, b: string): number {
  const x = a.match(/\d+|[^\d.-]+/g) ?? [];
  const y = b.match(/\d+|[^\d.-]+/g) ?? [];
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const order = compareComponents(x[i] ?? "", y[i] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}

function compareComponents(a: string, b: string): number {
  const numberOf = (text: string) => (/^\d+$/.test(text) && BigInt(text) <= 2147483647n ? Number(text) : undefined);
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== undefined && y !== undefined) return Math.sign(x - y);
  if (a === b) return 0;
  if (a === "" && y !== undefined) return -1;
  if (b === "" && x !== undefined) return 1;
  if (a === "pre") return -1;
  if (b === "pre") return 1;
  if (a === "") return -1;
  if (b === "") return 1;
  if (x !== undefined) return 1;
  if (y !== undefined) return -1;
  return Math.sign(compareCodePoints(a, b));
}

function matchesDescription(
  record: RangeRecord,
  words: readonly string[],
  phrases: readonly (readonly string[])[],
  lastByPrefix: string | undefined,
): boolean {
  const texts = [splitWords(record.name), splitWords(record.description ?? "")];
  const holds = (word: string, place: number) =>
    texts
      .flat()
      .some(
        (other) =>
          stemWord(other) === stemWord(word) ||
          (lastByPrefix !== undefined && place === words.length - 1 && other.startsWith(word)),
      );
  const holdsPhrase = (phrase: readonly string[]) =>
    texts.some((text) =>
      text.some((_, at) =>
        phrase.every((word, i) => text[at + i] !== undefined && stemWord(text[at + i]!) === stemWord(word)),
      ),
    );
  return words.every(holds) && phrases.every((phrase) => phrase.length === 0 || holdsPhrase(phrase));
}
