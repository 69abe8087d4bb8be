import type { PackageEntry } from "./scan-package-entries.js";

/**
 * Remembers which record an entry's bytes gave, so that an entry which has not changed since the release before is neither decoded nor parsed.
 *
 * The key is a 64-bit hash of the bytes: over the hundred million different entries of ten years, two colliding is a chance of one in several
 * thousand, and the table forgets everything when it is full, so in practice it never holds more than a few million at once.
 */

/** 4 M entries are some thirty releases' worth of changes and 48 MB. */
const MOST_ENTRIES = 1 << 22;
const EMPTY = -1;
/** What an entry without a version is remembered as. */
export const DROPPED_ENTRY = -2;

export class EntryCache {
  private capacity = 1 << 18;
  private low = new Int32Array(this.capacity);
  private high = new Int32Array(this.capacity);
  private record = new Int32Array(this.capacity).fill(EMPTY);
  private used = 0;

  /** Hash of the entry last given to find(). */
  private hashLow = 0;
  private hashHigh = 0;

  /** The record these bytes gave before, DROPPED_ENTRY, or undefined. */
  find(entry: PackageEntry): number | undefined {
    this.hashLow = entry.hashLow;
    this.hashHigh = entry.hashHigh;
    const slot = this.slotOf(this.hashLow, this.hashHigh);
    const record = this.record[slot]!;
    return record === EMPTY ? undefined : record;
  }

  /** Remembers the record of the entry last given to find(). */
  remember(record: number): void {
    if (this.used * 2 >= this.capacity) {
      this.makeRoom();
    }
    const slot = this.slotOf(this.hashLow, this.hashHigh);
    if (this.record[slot] === EMPTY) {
      this.used++;
    }
    this.low[slot] = this.hashLow;
    this.high[slot] = this.hashHigh;
    this.record[slot] = record;
  }

  private slotOf(low: number, high: number): number {
    const mask = this.capacity - 1;
    let slot = (low ^ (high << 7)) & mask;
    while (this.record[slot] !== EMPTY && (this.low[slot] !== low || this.high[slot] !== high)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private makeRoom(): void {
    const { low, high, record } = this;
    const forget = this.capacity >= MOST_ENTRIES * 2;
    this.capacity = forget ? this.capacity : this.capacity * 2;
    this.low = new Int32Array(this.capacity);
    this.high = new Int32Array(this.capacity);
    this.record = new Int32Array(this.capacity).fill(EMPTY);
    this.used = 0;
    if (forget) {
      return;
    }
    for (let slot = 0; slot < record.length; slot++) {
      if (record[slot] !== EMPTY) {
        const target = this.slotOf(low[slot]!, high[slot]!);
        this.low[target] = low[slot]!;
        this.high[target] = high[slot]!;
        this.record[target] = record[slot]!;
        this.used++;
      }
    }
  }
}
