/** A column of 32-bit numbers whose length is not known before the last record was read. */
export class GrowingColumn {
  #values = new Uint32Array(1024);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length++] = value;
  }

  get length(): number {
    return this.#length;
  }

  /** The values so far; a copy, so that the spare room is given back. */
  toColumn(): Uint32Array {
    return this.#values.slice(0, this.#length);
  }
}
