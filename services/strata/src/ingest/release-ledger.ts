import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeTextAtomically } from "./write-atomically.js";

/** What became of each release of a channel; kept beside the index, so that the next run goes on where this one ends. */

export type ReleaseStatus = "pending" | "ingested" | "failed" | "skipped";

export interface LedgerEntry {
  status: ReleaseStatus;
  commit?: string;
  /** Unix seconds. */
  date?: number;
  /** Why it failed or was skipped. */
  reason?: string;
  attempts?: number;
  /** Milliseconds since 1970: not tried again before. */
  retryAt?: number;
}

/** A release that failed is left alone for this long, then twice as long, and so on. */
const FIRST_BACK_OFF_MS = 10 * 60 * 1000;
const LONGEST_BACK_OFF_MS = 7 * 24 * 60 * 60 * 1000;

export class ReleaseLedger {
  private readonly entries: Map<string, LedgerEntry>;
  private changed = false;

  private constructor(private readonly path: string) {
    const stored = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, LedgerEntry>) : {};
    this.entries = new Map(Object.entries(stored));
  }

  /** Opens the ledger of a channel. `wasIngested` says what the observations know: they are right where the two differ, as after a crash. */
  static open(folder: string, channel: string, wasIngested: (commit: string) => boolean): ReleaseLedger {
    const ledger = new ReleaseLedger(join(folder, `ledger-${channel.replace(/[^\w.-]+/g, "-")}.json`));
    for (const [name, entry] of ledger.entries) {
      if (entry.status === "ingested" && !wasIngested(entry.commit ?? "")) {
        ledger.set(name, { ...entry, status: "pending" });
      }
    }
    return ledger;
  }

  get(release: string): LedgerEntry {
    return this.entries.get(release) ?? { status: "pending" };
  }

  set(release: string, entry: LedgerEntry): void {
    this.entries.set(release, entry);
    this.changed = true;
  }

  fail(release: string, reason: string, now: number): void {
    const before = this.get(release);
    const attempts = (before.attempts ?? 0) + 1;
    const wait = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (attempts - 1));
    this.set(release, { ...before, status: "failed", reason, attempts, retryAt: now + wait });
  }

  /** Should this release be tried now? */
  isDue(release: string, now: number, retryFailed: boolean): boolean {
    const entry = this.get(release);
    return entry.status === "pending" || (entry.status === "failed" && (retryFailed || (entry.retryAt ?? 0) <= now));
  }

  counts(releases: Iterable<string>): Record<ReleaseStatus, number> {
    const counts = { pending: 0, ingested: 0, failed: 0, skipped: 0 };
    for (const release of releases) {
      counts[this.get(release).status]++;
    }
    return counts;
  }

  save(): void {
    if (this.changed) {
      writeTextAtomically(this.path, `${JSON.stringify(Object.fromEntries(this.entries), null, 1)}\n`);
      this.changed = false;
    }
  }
}
