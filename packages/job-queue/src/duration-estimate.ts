/** How long a job takes, judged by the last ones. The median, so that one cold model load does not frighten every client away. */
const REMEMBERED = 32;
/** What we say before the first job is done: a picture on a plain CPU takes some seconds. */
const FIRST_GUESS_MS = 5_000;
/** A client told to wait longer than this would rather be told the truth again later. */
const LONGEST_RETRY_SECONDS = 600;

export interface DurationEstimate {
  add(milliseconds: number): void;
  medianMs(): number;
}

export function createDurationEstimate(): DurationEstimate {
  const recent: number[] = [];
  return {
    add(milliseconds) {
      recent.push(milliseconds);
      if (recent.length > REMEMBERED) recent.shift();
    },
    medianMs() {
      if (recent.length === 0) return FIRST_GUESS_MS;
      const sorted = [...recent].sort((a, b) => a - b);
      return sorted[Math.floor(sorted.length / 2)]!;
    },
  };
}

/** A place is free when the running job that is furthest along ends. */
export function secondsUntilPlace(medianMs: number, longestRunningMs: number): number {
  const seconds = Math.ceil((medianMs - longestRunningMs) / 1_000);
  return Math.min(LONGEST_RETRY_SECONDS, Math.max(1, seconds));
}
