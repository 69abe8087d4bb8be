import { GrowableColumn } from "./growable-column.js";
import { RecordTable } from "./record-table.js";

/**
 * What was seen when: for each channel its snapshots, and for each record the runs of consecutive snapshots that had it. This is a loss-free, compact form
 * of the matrix (record × snapshot), and adding a snapshot anywhere in time keeps it so; hence the order in which snapshots arrive cannot matter.
 */

export interface Snapshot {
  /** 40 lower-case hex digits. */
  commit: string;
  /** Unix seconds. */
  date: number;
  /** Entries with a version. */
  packages: number;
  /** Entries without one. */
  dropped: number;
}

/** Order of snapshots: by date; two of the same second by commit, so that the order is total. */
export function compareSnapshots(a: Pick<Snapshot, "commit" | "date">, b: Pick<Snapshot, "commit" | "date">): number {
  return a.date - b.date || (a.commit < b.commit ? -1 : a.commit > b.commit ? 1 : 0);
}

export class Channel {
  /** By arrival; runs refer to snapshots by their index here, which never changes. */
  readonly snapshots: Snapshot[];
  /** Snapshot indexes in order of time. */
  order: number[];
  /** Inverse of `order`. */
  position: Int32Array;

  readonly runRecord: GrowableColumn;
  readonly runFirst: GrowableColumn;
  readonly runLast: GrowableColumn;

  constructor(
    readonly name: string,
    stored?: { snapshots: Snapshot[]; record: Int32Array; first: Int32Array; last: Int32Array },
  ) {
    this.snapshots = stored?.snapshots ?? [];
    this.runRecord = new GrowableColumn(stored?.record);
    this.runFirst = new GrowableColumn(stored?.first);
    this.runLast = new GrowableColumn(stored?.last);
    this.order = [];
    this.position = new Int32Array(0);
    this.sortSnapshots();
  }

  has(commit: string): boolean {
    return this.snapshots.some((snapshot) => snapshot.commit === commit);
  }

  /** The snapshots just before and just after a moment; -1 where there is none. */
  neighbours(at: Pick<Snapshot, "commit" | "date">): { before: number; after: number } {
    let low = 0;
    let high = this.order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareSnapshots(this.snapshots[this.order[middle]!]!, at) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return { before: this.order[low - 1] ?? -1, after: this.order[low] ?? -1 };
  }

  /** Adds a snapshot that holds exactly these records (each once). One pass over the runs; no run is ever touched that the snapshot does not concern. */
  add(snapshot: Snapshot, records: Int32Array, recordCount: number): void {
    const { before, after } = this.neighbours(snapshot);
    const added = this.snapshots.length;
    this.snapshots.push(snapshot);
    const present = markRecords(records, recordCount);
    if (before >= 0 || after >= 0) {
      this.adjustRuns(added, before, after, present);
    }
    for (const record of records) {
      if (present[record] === PRESENT) {
        this.pushRun(record, added, added);
      }
    }
    this.sortSnapshots();
  }

  /** Extends the runs that end just before or start just after; splits those that span the new snapshot without being in it. */
  private adjustRuns(added: number, before: number, after: number, present: Uint8Array): void {
    const { position } = this;
    // Positions are those without the new snapshot, in which `before` and `after` are neighbours.
    const beforeAt = before < 0 ? -1 : position[before]!;
    const afterAt = after < 0 ? position.length : position[after]!;
    const count = this.runRecord.length;
    for (let run = 0; run < count; run++) {
      const record = this.runRecord.get(run);
      const first = this.runFirst.get(run);
      const last = this.runLast.get(run);
      const endsBefore = last === before;
      const startsAfter = first === after;
      if (!endsBefore && !startsAfter) {
        if (position[first]! > beforeAt || position[last]! < afterAt) {
          continue;
        }
        if (present[record] !== ABSENT) {
          present[record] = COVERED;
        } else {
          this.runLast.set(run, before);
          this.pushRun(record, after, last);
        }
      } else if (present[record] !== ABSENT) {
        present[record] = COVERED;
        if (endsBefore) {
          this.runLast.set(run, added);
        } else {
          this.runFirst.set(run, added);
        }
      }
    }
  }

  /** Marks (by record number) what a snapshot holds. */
  recordsOf(snapshot: number): Int32Array {
    const at = this.position[snapshot]!;
    const found = new GrowableColumn(this.snapshots[snapshot]!.packages + 1);
    for (let run = 0; run < this.runRecord.length; run++) {
      if (this.position[this.runFirst.get(run)]! <= at && at <= this.position[this.runLast.get(run)]!) {
        found.push(this.runRecord.get(run));
      }
    }
    return found.view();
  }

  private pushRun(record: number, first: number, last: number): void {
    this.runRecord.push(record);
    this.runFirst.push(first);
    this.runLast.push(last);
  }

  private sortSnapshots(): void {
    this.order = this.snapshots.map((_, index) => index);
    this.order.sort((a, b) => compareSnapshots(this.snapshots[a]!, this.snapshots[b]!));
    this.position = new Int32Array(this.order.length);
    for (let at = 0; at < this.order.length; at++) {
      this.position[this.order[at]!] = at;
    }
  }
}

const ABSENT = 0;
const PRESENT = 1;
/** Present, and a run says so already. */
const COVERED = 2;

function markRecords(records: Int32Array, recordCount: number): Uint8Array {
  const present = new Uint8Array(recordCount);
  for (const record of records) {
    present[record] = PRESENT;
  }
  return present;
}

export class Observations {
  readonly records: RecordTable;
  private readonly channelsByName = new Map<string, Channel>();
  /** Grows with every snapshot: tells whether the index was written from what is here. */
  revision: number;

  constructor(stored?: { records: RecordTable; channels: Channel[]; revision: number }) {
    this.records = stored?.records ?? new RecordTable();
    this.revision = stored?.revision ?? 0;
    for (const channel of stored?.channels ?? []) {
      this.channelsByName.set(channel.name, channel);
    }
  }

  /** Those with snapshots, by name: nothing depends on the order in which channels were met, nor on channels that were only asked about. */
  get channels(): Channel[] {
    return [...this.channelsByName.values()]
      .filter((channel) => channel.snapshots.length > 0)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get snapshotCount(): number {
    return this.channels.reduce((sum, channel) => sum + channel.snapshots.length, 0);
  }

  channel(name: string): Channel {
    let channel = this.channelsByName.get(name);
    if (channel === undefined) {
      channel = new Channel(name);
      this.channelsByName.set(name, channel);
    }
    return channel;
  }

  add(channelName: string, snapshot: Snapshot, records: Int32Array): void {
    this.channel(channelName).add(snapshot, records, this.records.size);
    this.revision++;
  }

  /** The newest snapshot of all channels. */
  newest(): Snapshot | null {
    let newest: Snapshot | null = null;
    for (const channel of this.channels) {
      const last = channel.snapshots[channel.order.at(-1) ?? -1];
      if (last !== undefined && (newest === null || compareSnapshots(last, newest) > 0)) {
        newest = last;
      }
    }
    return newest;
  }
}
