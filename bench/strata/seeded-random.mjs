/** A small seeded generator (mulberry32): the same seed gives the same index on every machine. */
export class SeededRandom {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit) {
    return Math.floor(this.next() * limit);
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** Early elements more often than late ones, as popular words and licences are. */
  pickSkewed(list) {
    return list[Math.floor(list.length * this.next() ** 3)];
  }

  chance(probability) {
    return this.next() < probability;
  }

  /** A positive number whose logarithm is bell-shaped: many small ones, few large. */
  logNormal(median, spread) {
    const bell = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return median * Math.exp(spread * bell);
  }

  hex(length) {
    let text = "";
    while (text.length < length)
      text += this.below(2 ** 32)
        .toString(16)
        .padStart(8, "0");
    return text.slice(0, length);
  }
}
