import type { OpenIndex } from "../store/open-index.js";

/** Finds the suffixes of the match text that begin with a query. */
export class SuffixFinder {
  readonly #text: Uint8Array;
  readonly #suffixes: Uint32Array;

  constructor(index: OpenIndex) {
    this.#text = index.bytes("matchText");
    this.#suffixes = index.numbers("matchSuffixes");
  }

  /** low..exactHigh-1 end where the query ends, exactHigh..high-1 go on. The query must be folded and not empty. */
  find(query: Uint8Array): { low: number; exactHigh: number; high: number } {
    const low = this.#bound(query, 0, this.#suffixes.length, (order) => order < 0);
    const high = this.#bound(query, low, this.#suffixes.length, (order) => order <= 0);
    let exactHigh = low;
    let end = high;
    while (exactHigh < end) {
      const middle = (exactHigh + end) >>> 1;
      if (this.#text[this.#suffixes[middle]! + query.length] === 0) exactHigh = middle + 1;
      else end = middle;
    }
    return { low, exactHigh, high };
  }

  #bound(query: Uint8Array, from: number, to: number, isBelow: (order: number) => boolean): number {
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBelow(this.#compare(this.#suffixes[middle]!, query))) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The suffix against the query; 0 when it begins with it. A suffix's NUL is below every byte of a query. */
  #compare(at: number, query: Uint8Array): number {
    for (let i = 0; i < query.length; i++) {
      const order = this.#text[at + i]! - query[i]!;
      if (order !== 0) return order;
    }
    return 0;
  }
}
