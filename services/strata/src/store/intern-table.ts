import { toUSVString } from "node:util";
import { compareCodePoints } from "./compare-code-points.js";

type Internable = string | readonly string[] | null;

/**
 * Gives equal inputs one number. Numbers follow the order of arrival, so they are replaced by sorted ranks before anything
 * is written: the file must not depend on the order of its input.
 */
export class InternTable<Input extends Internable> {
  readonly #form: "plain" | "json";
  readonly #numbers = new Map<string | null, number>();
  readonly #texts: string[] = [];

  /** `form`: whether the texts that are kept are the strings themselves or JSON. */
  constructor(form: Input extends string ? "plain" | "json" : "json") {
    this.#form = form;
  }

  intern(input: Input): number {
    const key = keyOf(input);
    return this.#numbers.get(key) ?? this.#add(key, input);
  }

  #add(key: string | null, input: Input): number {
    const wellFormed = makeWellFormed(input);
    const wellFormedKey = keyOf(wellFormed);
    let number = this.#numbers.get(wellFormedKey);
    if (number === undefined) {
      number = this.#texts.length;
      this.#texts.push(this.#form === "plain" ? (wellFormed as string) : JSON.stringify(wellFormed));
      this.#numbers.set(wellFormedKey, number);
    }
    if (wellFormedKey !== key) this.#numbers.set(key, number);
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

/** Lists are never interned beside strings, so their JSON cannot be taken for one. */
function keyOf(input: Internable): string | null {
  return typeof input === "object" && input !== null ? JSON.stringify(input) : input;
}

/** A lone surrogate has no UTF-8; it becomes U+FFFD here, once, instead of at every later encoding. */
function makeWellFormed(input: Internable): Internable {
  if (input === null) return null;
  return typeof input === "string" ? toUSVString(input) : input.map((item) => toUSVString(item));
}
