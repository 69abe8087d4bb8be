import { foldAscii } from "../store/compare-code-points.js";
import type { OpenIndex } from "../store/open-index.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Look-ups in a sorted dictionary of JSON string literals. Literals are compared as bytes without being decoded, except
 * for the few with an escape in them. UTF-8 bytes have the order of code points.
 */
export class TextDictionary {
  readonly #bytes: Buffer;
  readonly #at: Uint32Array;
  /** Whether the dictionary is sorted by the ASCII-folded text. */
  readonly #folded: boolean;

  constructor(index: OpenIndex, name: string, options: { folded: boolean }) {
    const bytes = index.bytes(`${name}Text`);
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#at = index.numbers(`${name}At`);
    this.#folded = options.folded;
  }

  get count(): number {
    return this.#at.length - 1;
  }

  /** The literal as stored, quotes and escapes included. */
  literal(number: number): string {
    return this.#bytes.toString("utf8", this.#at[number], this.#at[number + 1]);
  }

  text(number: number): string {
    const literal = this.literal(number);
    return literal.includes("\\") ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  }

  /** The number of a text, or -1. Only for dictionaries that are not folded. */
  find(text: string): number {
    const target = Buffer.from(text);
    const number = this.#lowerBound(target, false);
    return number < this.count && this.#compare(number, target, false) === 0 ? number : -1;
  }

  /** Where a text is or would be. */
  place(text: string): number {
    return this.#lowerBound(Buffer.from(this.#folded ? foldAscii(text) : text), false);
  }

  /** The numbers low..high-1 of the texts that begin with a prefix. */
  prefixRange(prefix: string): { low: number; high: number } {
    const target = Buffer.from(this.#folded ? foldAscii(prefix) : prefix);
    return { low: this.#lowerBound(target, false), high: this.#lowerBound(target, true) };
  }

  /** The first number whose text is not below the target; or, for `after`, is above everything that begins with it. */
  #lowerBound(target: Buffer, after: boolean): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#compare(middle, target, after);
      if (order < 0 || (after && order === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The text against the target; with `asPrefix`, a text that begins with the target is equal to it. */
  #compare(number: number, target: Buffer, asPrefix: boolean): number {
    const bytes = this.#bytes;
    let at = this.#at[number]! + 1;
    for (let i = 0; i < target.length; i++, at++) {
      let byte = bytes[at]!;
      if (byte === BACKSLASH) return this.#compareDecoded(number, target, asPrefix);
      if (byte === QUOTE) return -1;
      if (this.#folded && byte >= 65 && byte <= 90) byte += 32;
      if (byte !== target[i]) return byte - target[i]!;
    }
    return asPrefix || bytes[at] === QUOTE ? 0 : 1;
  }

  #compareDecoded(number: number, target: Buffer, asPrefix: boolean): number {
    const text = Buffer.from(this.#folded ? foldAscii(this.text(number)) : this.text(number));
    return Buffer.compare(asPrefix ? text.subarray(0, target.length) : text, target);
  }
}
