import { compareCodePoints } from "./compare-code-points.js";

/**
 * Gives equal inputs one number. Numbers follow the order of arrival, so they are replaced by sorted ranks before anything
 * is written: the file must not depend on the order of its input.
 */
export class InternTable<Input extends string | readonly string[] | null> {
  readonly #textOf: (input: Input) => string;
  readonly #numbers = new Map<string | null, number>();
  readonly #numbersOfTexts = new Map<string, number>();
  readonly #texts: string[] = [];

  /** `textOf`: what is kept of an input. Different inputs may have one text. */
  constructor(textOf: (input: Input) => string) {
    this.#textOf = textOf;
  }

  intern(input: Input): number {
    // Lists are never interned beside strings, so their texts cannot be taken for one.
    const key = typeof input === "object" && input !== null ? JSON.stringify(input) : (input as string | null);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#internText(this.#textOf(input));
    this.#numbers.set(key, number);
    return number;
  }

  #internText(text: string): number {
    const known = this.#numbersOfTexts.get(text);
    if (known !== undefined) return known;
    const number = this.#texts.length;
    this.#numbersOfTexts.set(text, number);
    this.#texts.push(text);
    return number;
  }

  /** The texts by code point of their keys, then of their own, and for each old number the new one. */
  sort(keyOf: (text: string) => string = (text) => text): { sorted: string[]; newNumbers: Uint32Array } {
    const texts = this.#texts;
    const keys = texts.map(keyOf);
    const order = Array.from(keys.keys()).sort(
      (a, b) => compareCodePoints(keys[a]!, keys[b]!) || compareCodePoints(texts[a]!, texts[b]!),
    );
    const newNumbers = new Uint32Array(order.length);
    for (let i = 0; i < order.length; i++) newNumbers[order[i]!] = i;
    return { sorted: order.map((number) => texts[number]!), newNumbers };
  }
}
