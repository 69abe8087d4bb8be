import type { IngestSession } from "./ingest-session.js";
import { ReleaseLedger, type ReleaseStatus } from "./release-ledger.js";
import type { ReleaseListing } from "./release-listing.js";
import type { ReleaseName } from "./release-name.js";

/** Walks the releases of a channel that are not in the index yet, newest first. */

interface ChannelProgress {
  done: number;
  total: number;
  release: string;
  /** Bytes of JSON so far. */
  bytes: number;
}

export interface IngestChannelOptions {
  session: IngestSession;
  listing: ReleaseListing;
  /** Name under which the channel's observations are kept. */
  channel: string;
  /** Unix seconds: releases before are not wanted. */
  since: number | null;
  /** Releases to take at most. */
  limit: number | null;
  retryFailed: boolean;
  signal: AbortSignal;
  log(line: string): void;
  onProgress(progress: ChannelProgress): void;
  now?: () => number;
}

export interface IngestChannelResult {
  counts: Record<ReleaseStatus, number>;
  /** Taken in by this run. */
  ingested: number;
  bytes: number;
  interrupted: boolean;
}

/** A release with its commit, date and opened package list; or the reason why there is nothing to read. */
type Prepared =
  | { kind: "ready"; commit: string; date: number; chunks: AsyncIterable<Uint8Array> }
  | { kind: "known"; commit: string; date: number }
  | { kind: "skipped"; reason: string; isFinal: boolean }
  | { kind: "failed"; reason: string };

export async function ingestChannel(options: IngestChannelOptions): Promise<IngestChannelResult> {
  const { session, channel, signal } = options;
  const now = options.now ?? Date.now;
  const releases = await options.listing.list();
  const ledger = ReleaseLedger.open(session.workPath, channel, (commit) => session.has(channel, commit));
  const due = releases
    .filter((release) => ledger.isDue(release.name, now(), options.retryFailed))
    .slice(0, options.limit ?? releases.length);
  const walk = new ChannelWalk(options, ledger, now);
  try {
    // The next release is asked for while this one is read.
    let next = due.length > 0 ? walk.prepare(due[0]!) : null;
    for (let at = 0; at < due.length && next !== null && !signal.aborted; at++) {
      const prepared = await next;
      next = at + 1 < due.length && !walk.isFinished(prepared) ? walk.prepare(due[at + 1]!) : null;
      options.onProgress({ done: at, total: due.length, release: due[at]!.name, bytes: walk.bytes });
      await walk.take(due[at]!, prepared);
      if (session.saveIfDue()) {
        ledger.save();
      }
    }
    void next?.catch(() => {});
  } finally {
    session.save();
    ledger.save();
  }
  return {
    counts: ledger.counts(releases.map((release) => release.name)),
    ingested: walk.ingested,
    bytes: walk.bytes,
    interrupted: signal.aborted,
  };
}

class ChannelWalk {
  ingested = 0;
  bytes = 0;
  /** Which release a commit belongs to: a held snapshot is confirmed by commit. */
  private readonly releaseOf = new Map<string, string>();

  constructor(
    private readonly options: IngestChannelOptions,
    private readonly ledger: ReleaseLedger,
    private readonly now: () => number,
  ) {}

  /** Never rejects: what goes wrong is this release's result. */
  async prepare(release: ReleaseName): Promise<Prepared> {
    const { listing, session, channel, since } = this.options;
    try {
      const { commit, date } = await listing.describe(release);
      if (since !== null && date < since) {
        return { kind: "skipped", reason: "before the time asked for", isFinal: false };
      }
      if (session.has(channel, commit)) {
        return { kind: "known", commit, date };
      }
      const chunks = await listing.open(release);
      if (chunks === null) {
        return { kind: "skipped", reason: "it has no package list", isFinal: true };
      }
      return { kind: "ready", commit, date, chunks };
    } catch (error) {
      return { kind: "failed", reason: (error as Error).message };
    }
  }

  /** Releases come newest first: one from before the time asked for ends the walk. */
  isFinished(prepared: Prepared): boolean {
    return prepared.kind === "skipped" && !prepared.isFinal;
  }

  async take(release: ReleaseName, prepared: Prepared): Promise<void> {
    const { ledger } = this;
    const { log, signal } = this.options;
    switch (prepared.kind) {
      case "known":
        ledger.set(release.name, { status: "ingested", commit: prepared.commit, date: prepared.date });
        return;
      case "skipped":
        if (prepared.isFinal) {
          ledger.set(release.name, { status: "skipped", reason: prepared.reason });
        }
        return;
      case "failed":
        if (!signal.aborted) {
          ledger.fail(release.name, prepared.reason, this.now());
          log(`${release.name}: ${prepared.reason}`);
        }
        return;
      default:
        await this.read(release, prepared);
    }
  }

  private async read(release: ReleaseName, prepared: Prepared & { kind: "ready" }): Promise<void> {
    const { session, channel, log, signal } = this.options;
    const { commit, date, chunks } = prepared;
    this.releaseOf.set(commit, release.name);
    try {
      const snapshot = await session.ingest({ channel, commit, date, open: () => chunks });
      this.ledger.set(release.name, { status: "ingested", commit, date });
      const confirmed = snapshot.confirmed === null ? undefined : this.releaseOf.get(snapshot.confirmed);
      if (confirmed !== undefined) {
        this.ledger.set(confirmed, { status: "ingested", commit: snapshot.confirmed! });
        this.ingested++;
      }
      this.ingested++;
      this.bytes += snapshot.bytes;
    } catch (error) {
      if (!signal.aborted) {
        this.ledger.fail(release.name, (error as Error).message, this.now());
        log(`${release.name}: ${(error as Error).message}`);
      }
    }
  }
}
