import { existsSync } from "node:fs";
import { type WriteIndexOptions, writeIndex } from "../store/index.js";
import { deriveRanges } from "./derive-ranges.js";
import type { Observations, Snapshot } from "./observations.js";
import { type Candidate, checkContents, checkQuality, confirmEachOther } from "./quality-gates.js";
import { SnapshotReader } from "./read-snapshot.js";
import { WorkFolder } from "./work-folder.js";

/**
 * One ingest: takes snapshots in, in any order, and writes the index at the end. Observations are saved now and then, so that an ingest that is killed goes on
 * where it was; the index itself is replaced once, whole.
 */

/** A snapshot that waits to be read, wherever it comes from. */
export interface SnapshotSource {
  channel: string;
  /** 40 lower-case hex digits. */
  commit: string;
  /** Unix seconds. */
  date: number;
  /** The bytes of its package list, decompressed. */
  open(): AsyncIterable<Uint8Array>;
}

export interface IngestOptions {
  indexPath: string;
  /** Take in what the quality gates refuse. */
  force: boolean;
  sentinels: readonly string[];
  /** One line about something a person should know. */
  log(line: string): void;
  /** Stops the reading of a snapshot; nothing of it is then kept. */
  signal?: AbortSignal;
  saveEveryMs?: number;
  now?: () => number;
}

export interface IngestedSnapshot extends Snapshot {
  channel: string;
  /** Bytes of JSON that were read. */
  bytes: number;
  /** False when its commit was in the channel already and nothing was read. */
  isNew: boolean;
  /** An earlier snapshot that the gates had refused and that this one confirmed. */
  confirmed: string | null;
}

/** The gates refused a snapshot; nothing was changed. */
export class QualityGateError extends Error {
  override name = "QualityGateError";
  constructor(
    snapshot: Pick<Snapshot, "commit">,
    readonly problems: readonly string[],
  ) {
    super(`Snapshot ${snapshot.commit} looks wrong: ${problems.join("; ")}.`);
  }
}

/** An index without observations was made elsewhere; writing over it would lose it. */
export class ForeignIndexError extends Error {
  override name = "ForeignIndexError";
}

/** Saving takes a second or two when there is much: it may cost this share of the time at most. */
const MOST_TIME_SAVING = 0.05;
/** Work that may be lost when the process is killed, while saving is cheap. */
export const SAVE_EVERY_MS = 20_000;

export class IngestSession {
  readonly observations: Observations;
  private readonly folder: WorkFolder;
  private readonly reader: SnapshotReader;
  private readonly now: () => number;
  private held: (Candidate & { channel: string }) | null = null;
  private unsaved = false;
  private savedAt: number;
  private saveTook = 0;

  constructor(private readonly options: IngestOptions) {
    this.now = options.now ?? Date.now;
    this.folder = new WorkFolder(options.indexPath);
    if (existsSync(options.indexPath) && !this.folder.hasObservations() && !options.force) {
      throw new ForeignIndexError(
        `${options.indexPath} was not made by ingestion here (there is no ${this.folder.path}), so it cannot be extended. ` +
          "Give another --index, or --force to replace it with what you ingest.",
      );
    }
    this.folder.lock();
    try {
      this.observations = this.folder.load();
    } catch (error) {
      this.folder.unlock();
      throw error;
    }
    this.reader = new SnapshotReader(this.observations.records);
    this.savedAt = this.now();
  }

  /** Where ledgers and other notes about this index are kept. */
  get workPath(): string {
    return this.folder.path;
  }

  has(channel: string, commit: string): boolean {
    return this.observations.channel(channel).has(commit);
  }

  /** Reads one snapshot and takes it in. Throws QualityGateError or MalformedPackageListError; nothing is then changed. */
  async ingest(source: SnapshotSource): Promise<IngestedSnapshot> {
    const { channel, commit, date } = source;
    if (this.has(channel, commit)) {
      const known = this.observations.channel(channel).snapshots.find((snapshot) => snapshot.commit === commit)!;
      return { ...known, channel, bytes: 0, isNew: false, confirmed: null };
    }
    const read = await this.reader.read(source.open(), this.options.signal);
    const snapshot: Snapshot = { commit, date, packages: read.packages, dropped: read.dropped };
    const confirmed = this.pass(channel, { snapshot, records: read.records });
    this.observations.add(channel, snapshot, read.records);
    this.unsaved = true;
    return { ...snapshot, channel, bytes: read.bytes, isNew: true, confirmed };
  }

  /** Lets a candidate through the gates or throws; gives the commit of the held snapshot that it confirmed, if any. */
  private pass(channelName: string, candidate: Candidate): string | null {
    const { observations, options } = this;
    const channel = observations.channel(channelName);
    const problems = checkQuality(observations, channel, candidate, options);
    if (problems.length === 0) {
      return null;
    }
    const { commit } = candidate.snapshot;
    if (options.force) {
      options.log(`Snapshot ${commit} is taken in by force although ${problems.join("; ")}.`);
      return null;
    }
    const held = this.held?.channel === channelName ? this.held : null;
    const isWhole = checkContents(observations.records, candidate, options).length === 0;
    if (held !== null && isWhole && confirmEachOther(observations.records, held, candidate)) {
      options.log(
        `Snapshots ${held.snapshot.commit} and ${commit} agree with each other: the change is real (${problems.join("; ")}).`,
      );
      observations.add(channelName, held.snapshot, held.records);
      this.held = null;
      return held.snapshot.commit;
    }
    // A snapshot that is odd in itself cannot vouch for another.
    this.held = isWhole ? { ...candidate, channel: channelName } : null;
    throw new QualityGateError(candidate.snapshot, problems);
  }

  /** Saves if it is time; call between snapshots. True when it did. */
  saveIfDue(): boolean {
    const wait = Math.max(this.options.saveEveryMs ?? SAVE_EVERY_MS, this.saveTook / MOST_TIME_SAVING);
    if (!this.unsaved || this.now() - this.savedAt < wait) {
      return false;
    }
    this.save();
    return true;
  }

  save(): void {
    if (this.unsaved) {
      const started = this.now();
      this.folder.save(this.observations);
      this.unsaved = false;
      this.savedAt = this.now();
      this.saveTook = this.savedAt - started;
    }
  }

  /** Saves and writes the index, unless it holds all this already. True when it was written. */
  async writeIndex(writeOptions: WriteIndexOptions = {}): Promise<boolean> {
    this.save();
    const { observations, folder } = this;
    const newest = observations.newest();
    if (newest === null || folder.writtenRevision() === observations.revision) {
      return false;
    }
    const meta = {
      lastIndexedCommit: newest.commit,
      lastIndexedDate: newest.date,
      notes: { channels: observations.channels.map((channel) => channel.name).join(" ") },
    };
    await writeIndex(deriveRanges(observations), meta, this.options.indexPath, writeOptions);
    folder.markWritten(observations.revision);
    return true;
  }

  close(): void {
    this.folder.unlock();
  }
}
