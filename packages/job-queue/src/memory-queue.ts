import { randomUUID } from "node:crypto";
import { createDurationEstimate, secondsUntilPlace } from "./duration-estimate.js";
import { createFairLine } from "./fair-line.js";
import type { Journal } from "./journal.js";
import {
  JobCancelledError,
  type JobQueue,
  type Place,
  QueueClosedError,
  type QueuedJob,
  QueueFullError,
  type QueueOptions,
  type Ticket,
} from "./queue-api.js";

interface Held<Payload, Result> {
  readonly ticket: Ticket<Payload, Result>;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly abort: AbortController;
  startedAt?: number;
  position?: number;
}

export function createMemoryQueue<Payload, Result>(options: QueueOptions<Payload, Result>): JobQueue<Payload, Result> {
  return createQueue(options, undefined);
}

/** The one queue. With a journal, every change of a job's state is on disk before anyone hears of it. */
export function createQueue<Payload, Result>(
  options: QueueOptions<Payload, Result>,
  journal: Journal<Payload> | undefined,
): JobQueue<Payload, Result> {
  const { run, maxWaiting, onPosition, now = Date.now, concurrency = 1 } = options;
  const newcomerPlaces = options.newcomerPlaces ?? Math.floor(maxWaiting / 10);
  const line = createFairLine();
  const held = new Map<string, Held<Payload, Result>>();
  const running = new Set<string>();
  const reservedBy = new Map<string, number>();
  const durations = createDurationEstimate();
  let reserved = 0;
  let started = false;
  let closing = false;
  let stopped = false;
  let whenIdle: (() => void)[] = [];

  function hold(job: QueuedJob<Payload>): Held<Payload, Result> {
    let resolve!: (result: Result) => void;
    let reject!: (error: unknown) => void;
    const finished = new Promise<Result>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    // Whoever holds the ticket looks at the outcome; a job whose client left must not end the process.
    finished.catch(() => {});
    const entry: Held<Payload, Result> = { ticket: { job, finished }, resolve, reject, abort: new AbortController() };
    held.set(job.id, entry);
    line.add(job.clientKey, job.id);
    return entry;
  }

  function tellPositions(): void {
    const tell = (id: string, position: number) => {
      const entry = held.get(id);
      if (!entry || entry.position === position) return;
      entry.position = position;
      onPosition?.(id, position);
    };
    for (const id of running) tell(id, 0);
    line.order().forEach((id, index) => {
      tell(id, aheadOf(index));
    });
  }

  function aheadOf(index: number): number {
    return Math.max(0, index + running.size - (concurrency - 1));
  }

  function startNext(): void {
    while (started && !stopped && !(closing && journal) && running.size < concurrency) {
      const id = line.next();
      if (id === undefined) break;
      running.add(id);
      void work(held.get(id)!);
    }
    tellPositions();
    const nothingWillStart = line.size === 0 || !started || stopped || (closing && journal);
    if (running.size === 0 && nothingWillStart) for (const tell of whenIdle.splice(0)) tell();
  }

  async function work(entry: Held<Payload, Result>): Promise<void> {
    const { job } = entry.ticket;
    entry.startedAt = now();
    let settle: () => void;
    let kept = false;
    try {
      await journal?.started(job.id);
      const result = await run(job, entry.abort.signal);
      durations.add(now() - entry.startedAt);
      settle = () => entry.resolve(result);
    } catch (error) {
      kept = stopped && journal !== undefined;
      settle = () => entry.reject(kept ? new QueueClosedError(true) : error);
    }
    try {
      // On disk first, so that a finished job is never run again by the next process.
      if (!kept) await journal?.ended(job.id);
    } catch (error) {
      settle = () => entry.reject(error);
    }
    running.delete(job.id);
    held.delete(job.id);
    settle();
    startNext();
  }

  /** What a journal holds stays in it. */
  function dropWaiting(): void {
    for (const id of line.order()) {
      line.remove(id);
      held.get(id)?.reject(new QueueClosedError(journal !== undefined));
      held.delete(id);
    }
  }

  function retryAfterSeconds(): number {
    const longest = Math.max(0, ...[...running].map((id) => now() - (held.get(id)?.startedAt ?? now())));
    return secondsUntilPlace(durations.medianMs(), longest);
  }

  function reserve(clientKey: string): Place<Payload, Result> {
    if (closing) throw new QueueClosedError(false);
    const isNewcomer = !reservedBy.has(clientKey) && line.waitingOf(clientKey) === 0;
    const places = concurrency + maxWaiting - (isNewcomer ? 0 : newcomerPlaces);
    if (reserved + line.size + running.size >= places) throw new QueueFullError(line.size, retryAfterSeconds());
    reserved++;
    reservedBy.set(clientKey, (reservedBy.get(clientKey) ?? 0) + 1);
    return createPlace(clientKey);
  }

  function createPlace(clientKey: string): Place<Payload, Result> {
    const id = randomUUID();
    let open = true;
    const giveBack = () => {
      reserved--;
      const left = reservedBy.get(clientKey)! - 1;
      if (left > 0) reservedBy.set(clientKey, left);
      else reservedBy.delete(clientKey);
    };
    return {
      id,
      async submit(payload) {
        if (!open) throw new Error("This place was already used.");
        open = false;
        const job: QueuedJob<Payload> = { id, clientKey, payload, submittedAt: now() };
        try {
          await journal?.added(job);
        } finally {
          giveBack();
        }
        if (closing && !journal) throw new QueueClosedError(false);
        const entry = hold(job);
        startNext();
        return entry.ticket;
      },
      release() {
        if (!open) return;
        open = false;
        giveBack();
      },
    };
  }

  async function cancelWaiting(entry: Held<Payload, Result>): Promise<void> {
    line.remove(entry.ticket.job.id);
    held.delete(entry.ticket.job.id);
    tellPositions();
    try {
      await journal?.ended(entry.ticket.job.id);
      entry.reject(new JobCancelledError());
    } catch (error) {
      entry.reject(error);
    }
    startNext();
  }

  return {
    reserve,
    start() {
      const left = (journal?.unfinished ?? []).map((job) => hold(job).ticket);
      started = true;
      // Not before the caller has seen the tickets.
      queueMicrotask(startNext);
      return left;
    },
    position: (id) => {
      if (running.has(id)) return 0;
      const index = line.order().indexOf(id);
      return index < 0 ? undefined : aheadOf(index);
    },
    cancel(id) {
      const entry = held.get(id);
      if (!entry) return undefined;
      if (running.has(id)) {
        entry.abort.abort(new JobCancelledError());
        return "running";
      }
      void cancelWaiting(entry);
      return "waiting";
    },
    retryAfterSeconds,
    counts: () => ({ reserved, waiting: line.size, running: running.size }),
    async close({ deadlineMs }) {
      closing = true;
      const idle = new Promise<void>((resolve) => whenIdle.push(resolve));
      const timer = setTimeout(() => {
        stopped = true;
        // Their clients hear it now, whatever the work needs to come to its end.
        for (const id of running) {
          held.get(id)?.abort.abort(new QueueClosedError(journal !== undefined));
          held.get(id)?.reject(new QueueClosedError(journal !== undefined));
        }
        dropWaiting();
        startNext();
      }, deadlineMs);
      startNext();
      await idle;
      clearTimeout(timer);
      stopped = true;
      whenIdle = [];
      dropWaiting();
      await journal?.close();
    },
  };
}
