import { compareCodePoints } from "../store/compare-code-points.js";
import { stemWord } from "../store/description-words.js";
import { TextTable } from "../store/read-records.js";
import type { EngineMemory } from "./engine-memory.js";
import { LARGEST_SCORE } from "./lay-out-workspace.js";
import { readDescriptionQuery } from "./read-description-query.js";
import type { SearchPage } from "./search-packages.js";

/** The forms of one query word in the index, and how many documents they are in at most. */
interface WordForms {
  readonly forms: readonly { readonly word: number; readonly half: boolean }[];
  readonly postings: number;
}

/** Searches names and descriptions of the newest version of every package. */
export class DescriptionSearch {
  readonly #memory: EngineMemory;
  readonly #words: SortedTexts;
  readonly #stems: SortedTexts;
  readonly #stemWords: Uint32Array;
  readonly #stemWordStarts: Uint32Array;
  readonly #wordStem: Uint32Array;
  readonly #postingStarts: Uint32Array;
  readonly #documentRow: Uint32Array;

  constructor(memory: EngineMemory) {
    const { index } = memory;
    this.#memory = memory;
    this.#words = new SortedTexts(new TextTable(index, "word"));
    this.#stems = new SortedTexts(new TextTable(index, "stem"));
    this.#stemWords = index.numbers("stemWords");
    this.#stemWordStarts = index.numbers("stemWordStarts");
    this.#wordStem = index.numbers("wordStem");
    this.#postingStarts = index.numbers("postingStarts");
    this.#documentRow = index.numbers("documentRow");
  }

  search(query: { q: string; limit: number; offset: number }): SearchPage {
    const { words, phrases } = readDescriptionQuery(query.q);
    // The rarest word first: every later one only looks at documents that are still in the race.
    const forms = words
      .map(({ word, byPrefix }) => this.#formsOf(word, byPrefix))
      .sort((a, b) => a.postings - b.postings);
    if (forms.length === 0 || forms[0]!.postings === 0) return { total: 0, rows: new Uint32Array(0) };
    return this.#findDocuments(forms, phrases, query.limit, query.offset);
  }

  #findDocuments(
    forms: readonly WordForms[],
    phrases: readonly (readonly string[])[],
    limit: number,
    offset: number,
  ): SearchPage {
    const { kernels } = this.#memory;
    const firstList = this.#memory.place("documentList");
    const laterList = this.#memory.place("documentSorted");
    let firstCount = 0;
    let list = firstList;
    let total = 0;
    for (const [held, { forms: wordForms }] of forms.entries()) {
      list = held === 0 ? firstList : laterList;
      total = 0;
      for (const { word, half } of wordForms) total = kernels.addPostings(word, held, half ? 1 : 0, total, list);
      kernels.closeWord(list, total);
      if (held === 0) firstCount = total;
      if (total === 0) break;
    }
    const shared = list;
    let kept = total;
    // The first list must stay whole for the clearing: phrases shorten a copy of it.
    if (phrases.length > 0 && shared === firstList) {
      this.#memory.view(laterList, total).set(this.#memory.view(firstList, total));
      list = laterList;
    }
    for (const phrase of phrases) kept = this.#keepPhrase(list, kept, phrase);
    const rows = this.#takePage(list, kept, offset, limit);
    kernels.clearDocuments(firstList, firstCount);
    return { total: kept, rows };
  }

  #takePage(list: number, total: number, offset: number, limit: number): Uint32Array {
    const want = Math.max(0, Math.min(limit, total - offset));
    const page = this.#memory.place("pageRows");
    const rows = this.#memory.view(page, want);
    if (want === 0) return rows;
    const documents = this.#documentRow.length;
    this.#memory.kernels.takeDocuments(list, total, documents, LARGEST_SCORE, offset, want, page);
    for (let i = 0; i < want; i++) rows[i] = this.#documentRow[rows[i]!]!;
    return rows;
  }

  #keepPhrase(list: number, count: number, phrase: readonly string[]): number {
    const stems = phrase.map((word) => this.#stems.find(stemWord(word)));
    if (stems.some((stem) => stem < 0)) return 0;
    const address = this.#memory.place("phrase");
    this.#memory.view(address, stems.length).set(stems);
    return this.#memory.kernels.keepPhrase(list, count, address, stems.length);
  }

  /** Words with the same stem, and for the last word of a query those that begin with it. */
  #formsOf(word: string, byPrefix: boolean): WordForms {
    const forms: { word: number; half: boolean }[] = [];
    let postings = 0;
    const add = (number: number, half: boolean) => {
      forms.push({ word: number, half });
      postings += this.#postingStarts[number + 1]! - this.#postingStarts[number]!;
    };
    const stem = this.#stems.find(stemWord(word));
    if (stem >= 0) {
      for (let i = this.#stemWordStarts[stem]!; i < this.#stemWordStarts[stem + 1]!; i++) {
        add(this.#stemWords[i]!, false);
      }
    }
    if (byPrefix) {
      const { low, high } = this.#words.prefixRange(word);
      for (let number = low; number < high; number++) if (this.#wordStem[number] !== stem) add(number, true);
    }
    return { forms, postings };
  }
}

/** Look-ups in a sorted table of plain texts. */
class SortedTexts {
  readonly #texts: TextTable;

  constructor(texts: TextTable) {
    this.#texts = texts;
  }

  find(text: string): number {
    const place = this.#place((other) => compareCodePoints(other, text) < 0);
    return place < this.#texts.count && this.#texts.text(place) === text ? place : -1;
  }

  prefixRange(prefix: string): { low: number; high: number } {
    return {
      low: this.#place((other) => compareCodePoints(other, prefix) < 0),
      high: this.#place((other) => other.startsWith(prefix) || compareCodePoints(other, prefix) < 0),
    };
  }

  #place(isBefore: (text: string) => boolean): number {
    let low = 0;
    let high = this.#texts.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#texts.text(middle))) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
