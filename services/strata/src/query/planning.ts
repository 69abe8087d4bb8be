/** How the engine chooses between ways that lead to the same page. Tests choose otherwise and must find the same pages. */
export interface Planning {
  /** What a kernel spends on one row, in nanoseconds, measured; only their relations matter. */
  readonly costs: {
    /** Reading the next place of an order. */
    readonly walk: number;
    /** Comparing a row's place with a guessed one, and sampling a row for the guess. */
    readonly seek: number;
    readonly sample: number;
    /** Setting the bit of a row, reading along an entry, or along a version, where every row is far from the last. */
    readonly scatterEntry: number;
    readonly scatterVersion: number;
    /** Counting a row, reading along an entry, or along a version. */
    readonly countEntry: number;
    readonly countVersion: number;
  };
  /** From this size on the rows of a tier are counted by shape, if they were not already. */
  readonly shapeRows: number;
  /** From one occurrence in so many keys on, giving every entry its tier is faster than listing the matched ones. */
  readonly broadShare: number;
  /** Every so many rows one is taken to guess where a page begins. */
  readonly sampleEvery: number;
  /** A block of places with a known range of versions has 2^blockBits places. */
  readonly blockBits: number;
}

export const DEFAULT_PLANNING: Planning = {
  costs: { walk: 1, seek: 0.3, sample: 30, scatterEntry: 1.3, scatterVersion: 4, countEntry: 0.35, countVersion: 0.6 },
  shapeRows: 32_768,
  broadShare: 16,
  sampleEvery: 1024,
  blockBits: 10,
};
