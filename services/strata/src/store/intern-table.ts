/**
 * Gives equal keys one number. Numbers follow the order of arrival, so they are replaced by sorted ranks before anything
 * is written: the file must not depend on the order of its input.
 */
export class InternTable<Value> {
  readonly #numbers = new Map<string, number>();
  readonly values: Value[] = [];

  intern(key: string, value: Value): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.values.length;
    this.#numbers.set(key, number);
    this.values.push(value);
    return number;
  }

  /** The values in order, and for each old number the new one. */
  sort(compare: (a: Value, b: Value) => number): { sorted: Value[]; newNumbers: Uint32Array } {
    const order = Array.from(this.values.keys()).sort((a, b) => compare(this.values[a]!, this.values[b]!));
    const newNumbers = new Uint32Array(order.length);
    for (let i = 0; i < order.length; i++) newNumbers[order[i]!] = i;
    return { sorted: order.map((number) => this.values[number]!), newNumbers };
  }
}
