/**
 * A bounded line of jobs in front of a worker that can run only a few at a time.
 * Admission is two steps, so that nothing can slip in between: `reserve` takes a place at once or refuses, `submit` fills it.
 * Clients take turns: whatever one client has waiting, another client's first job is next but one at most.
 */
export interface JobQueue<Payload, Result> {
  /** Takes a place now, synchronously, or throws QueueFullError / QueueClosedError. */
  reserve(clientKey: string): Place<Payload, Result>;
  /** Begins to run jobs. Returns the jobs that an earlier process left unfinished, in the order they will run. */
  start(): readonly Ticket<Payload, Result>[];
  /** How many jobs run before this one: 0 means it runs now. Undefined when the queue does not hold the job. */
  position(id: string): number | undefined;
  /** A waiting job leaves the line, a running one has its signal aborted. Returns the state it was in. */
  cancel(id: string): "waiting" | "running" | undefined;
  /** Seconds after which a refused client may try again with some hope. */
  retryAfterSeconds(): number;
  counts(): QueueCounts;
  /**
   * Refuses new jobs, lets work go on until the deadline, then stops it. What a durable queue had not finished stays in it.
   * Resolves when nothing runs any more.
   */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

export interface QueueCounts {
  readonly reserved: number;
  readonly waiting: number;
  readonly running: number;
}

/** A taken place in the line that has no job yet. Release it if the job cannot be made. */
export interface Place<Payload, Result> {
  readonly id: string;
  submit(payload: Payload): Promise<Ticket<Payload, Result>>;
  /** Gives the place back; does nothing once submitted. */
  release(): void;
}

export interface Ticket<Payload, Result> {
  readonly job: QueuedJob<Payload>;
  /** What `run` returned or threw; JobCancelledError if it never ran; QueueClosedError if the queue closed before it could. */
  readonly finished: Promise<Result>;
}

export interface QueuedJob<Payload> {
  readonly id: string;
  readonly clientKey: string;
  readonly payload: Payload;
  /** milliseconds since the epoch */
  readonly submittedAt: number;
}

export interface QueueOptions<Payload, Result> {
  readonly run: (job: QueuedJob<Payload>, signal: AbortSignal) => Promise<Result>;
  /** places in the line, not counting the jobs that run */
  readonly maxWaiting: number;
  /** jobs that run at the same time; 1 unless told */
  readonly concurrency?: number;
  /** the last places of the line are kept for clients that have nothing in it; a tenth of `maxWaiting` unless told */
  readonly newcomerPlaces?: number;
  /** called whenever a job's position is not what it was */
  readonly onPosition?: (id: string, position: number) => void;
  readonly now?: () => number;
}

export class QueueFullError extends Error {
  override readonly name = "QueueFullError";
  constructor(
    readonly waiting: number,
    readonly retryAfterSeconds: number,
  ) {
    super(`The queue is full: ${waiting} jobs are waiting. Try again in ${retryAfterSeconds} s.`);
  }
}

export class QueueClosedError extends Error {
  override readonly name = "QueueClosedError";
  /** `kept`: the job is on disk and runs after the next start. */
  constructor(readonly kept: boolean) {
    super(
      kept
        ? "The server is stopping. The job is kept and runs after the next start."
        : "The server is stopping and takes no more jobs.",
    );
  }
}

export class JobCancelledError extends Error {
  override readonly name = "JobCancelledError";
  constructor() {
    super("The job was cancelled.");
  }
}
