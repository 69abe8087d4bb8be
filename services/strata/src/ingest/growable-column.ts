/** A column of 32-bit integers that grows: one of these holds millions of values where an array of objects would hold the heap. */
export class GrowableColumn {
  private values: Int32Array;
  length: number;

  constructor(initial: Int32Array | number = 1024) {
    this.values = typeof initial === "number" ? new Int32Array(initial) : initial;
    this.length = typeof initial === "number" ? 0 : initial.length;
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Int32Array(Math.max(1024, this.values.length * 2));
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  get(index: number): number {
    return this.values[index]!;
  }

  set(index: number, value: number): void {
    this.values[index] = value;
  }

  /** The values themselves, without room to grow; valid until the next push. */
  view(): Int32Array {
    return this.values.subarray(0, this.length);
  }
}
