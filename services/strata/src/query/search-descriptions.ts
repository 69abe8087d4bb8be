import { compareCodePoints } from "../store/compare-code-points.js";
import { stemWord } from "../store/description-words.js";
import { TextTable } from "../store/read-records.js";
import type { EngineMemory } from "./engine-memory.js";
import { LARGEST_WORD_SCORE } from "./lay-out-workspace.js";
import { readDescriptionQuery } from "./read-description-query.js";
import type { SearchPage } from "./search-packages.js";

/** The forms of one query word in the index, and how many documents they are in at most. */
interface WordForms {
  /** Words with the same stem. */
  readonly words: Uint32Array;
  /** Words low..high-1 begin with it. */
  readonly low: number;
  readonly high: number;
  readonly postings: number;
}

/** Searches names and descriptions of the newest version of every package. */
export class DescriptionSearch {
  readonly #memory: EngineMemory;
  readonly #words: SortedTexts;
  readonly #stems: SortedTexts;
  readonly #stemWords: Uint32Array;
  readonly #stemWordStarts: Uint32Array;
  readonly #postingStarts: Uint32Array;
  readonly #documentRow: Uint32Array;

  constructor(memory: EngineMemory) {
    const { index } = memory;
    this.#memory = memory;
    this.#words = new SortedTexts(new TextTable(index, "word"));
    this.#stems = new SortedTexts(new TextTable(index, "stem"));
    this.#stemWords = index.numbers("stemWords");
    this.#stemWordStarts = index.numbers("stemWordStarts");
    this.#postingStarts = index.numbers("postingStarts");
    this.#documentRow = index.numbers("documentRow");
  }

  search(query: { q: string; limit: number; offset: number }): SearchPage {
    const { words, phrases } = readDescriptionQuery(query.q);
    const forms = words.map(({ word, byPrefix }) => this.#formsOf(word, byPrefix));
    if (forms.length === 0 || forms.some(({ postings }) => postings === 0)) {
      return { total: 0, rows: new Uint32Array(0) };
    }
    const { kernels } = this.#memory;
    const documents = this.#documentRow.length;
    const largestScore = forms.length * LARGEST_WORD_SCORE;
    for (const [number, wordForms] of forms.entries()) this.#keepWord(wordForms, number === 0);
    for (const phrase of phrases) this.#keepPhrase(phrase);
    const total = kernels.countScores(documents, largestScore) >>> 0;
    const want = Math.max(0, Math.min(query.limit, total - query.offset));
    const page = this.#memory.place("pageRows");
    const rows = this.#memory.view(page, want);
    if (want === 0) return { total, rows };
    kernels.takeDocuments(documents, largestScore, query.offset, want, page);
    for (let i = 0; i < want; i++) rows[i] = this.#documentRow[rows[i]!]!;
    return { total, rows };
  }

  #keepWord({ words, low, high }: WordForms, isFirst: boolean): void {
    const { kernels } = this.#memory;
    for (const word of words) kernels.addPostings(this.#postingStarts[word]!, this.#postingStarts[word + 1]!, 0);
    // Words are sorted, so the postings of all that begin alike lie together. Words of the stem are among them, but half is less.
    if (high > low) kernels.addPostings(this.#postingStarts[low]!, this.#postingStarts[high]!, 1);
    kernels.closeWord(isFirst ? 1 : 0, this.#documentRow.length);
  }

  #keepPhrase(phrase: readonly string[]): void {
    // Every word of a phrase was found on its own before, and not as a beginning: each has a stem.
    const stems = phrase.map((word) => this.#stems.find(stemWord(word)));
    const address = this.#memory.place("phrase");
    this.#memory.view(address, stems.length).set(stems);
    this.#memory.kernels.keepPhrase(this.#documentRow.length, address, stems.length);
  }

  /** Words with the same stem, and for the last word of a query those that begin with it. */
  #formsOf(word: string, byPrefix: boolean): WordForms {
    const stem = this.#stems.find(stemWord(word));
    const words =
      stem < 0 ? NO_WORDS : this.#stemWords.subarray(this.#stemWordStarts[stem], this.#stemWordStarts[stem + 1]);
    const { low, high } = byPrefix ? this.#words.prefixRange(word) : { low: 0, high: 0 };
    let postings = this.#postingStarts[high]! - this.#postingStarts[low]!;
    for (const number of words) postings += this.#postingStarts[number + 1]! - this.#postingStarts[number]!;
    return { words, low, high, postings };
  }
}

const NO_WORDS = new Uint32Array(0);

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
