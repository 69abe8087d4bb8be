import { errors } from "../contract/errors.js";

/**
 * Who may compute now. Queries run on the main thread: the slowest takes a few milliseconds (bench/strata) and most take
 * fifty microseconds, which is less than handing them to another thread would cost. What must not happen is that a burst of
 * queries keeps the event loop from reading sockets: health and look-ups would wait behind it. So each turn of the loop
 * computes for a few milliseconds only; what comes beyond that waits in line, the line is bounded, and past its end a
 * request is refused at once.
 */

/** Computing time of one turn of the event loop: the longest that health waits behind queries. */
const TURN_MS = 5;
/** A line this long is served in 50 ms when queries are usual and in seconds at the very worst. */
const LONGEST_LINE = 1024;
/** Nobody waits for an answer any more after this; computing it would only delay the others. */
const LONGEST_WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 1;

interface Waiting {
  readonly since: number;
  readonly run: () => void;
  readonly fail: (error: Error) => void;
}

export interface AdmissionOptions {
  readonly turnMs?: number;
  readonly longestLine?: number;
  readonly longestWaitMs?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

export class Admission {
  readonly #line: Waiting[] = [];
  readonly #turnMs: number;
  readonly #longestLine: number;
  readonly #longestWaitMs: number;
  readonly #now: () => number;
  /** Time computed in this turn of the event loop; `undefined` between turns. */
  #spent: number | undefined;

  constructor(options: AdmissionOptions = {}) {
    this.#turnMs = options.turnMs ?? TURN_MS;
    this.#longestLine = options.longestLine ?? LONGEST_LINE;
    this.#longestWaitMs = options.longestWaitMs ?? LONGEST_WAIT_MS;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Runs the job now if this turn has time left and nobody waits, later if the line has room, or refuses it. */
  run<Result>(job: () => Result): Result | Promise<Result> {
    if (this.#line.length === 0 && (this.#spent ?? 0) < this.#turnMs) return this.#compute(job);
    if (this.#line.length >= this.#longestLine) {
      throw errors.OVERLOADED(`${this.#longestLine} requests are waiting already. Try again in a second.`, {
        headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
      });
    }
    return new Promise<Result>((resolve, reject) => {
      const run = () => {
        try {
          resolve(this.#compute(job));
        } catch (error) {
          reject(error);
        }
      };
      this.#line.push({ since: this.#now(), run, fail: reject });
    });
  }

  #compute<Result>(job: () => Result): Result {
    const started = this.#now();
    if (this.#spent === undefined) {
      this.#spent = 0;
      setImmediate(() => this.#endTurn());
    }
    try {
      return job();
    } finally {
      this.#spent += this.#now() - started;
    }
  }

  /** Between two looks at the sockets: the line gets the next turn's time. */
  #endTurn(): void {
    this.#spent = undefined;
    while (this.#line.length > 0 && (this.#spent ?? 0) < this.#turnMs) {
      const next = this.#line.shift()!;
      if (this.#now() - next.since > this.#longestWaitMs) next.fail(errors.TIMEOUT());
      else next.run();
    }
  }
}
