import { usageError } from "@kit/command-line";

/** Nixpkgs begins in 2003; what is earlier is a mistake, such as milliseconds taken for seconds the other way round. */
const EARLIEST = Date.UTC(2000, 0, 1) / 1000;
const DAY = 24 * 60 * 60;

/** A date as people write it (2024-05-01, 2024-05-01T12:00:00Z) or Unix seconds; gives Unix seconds. */
export function parseMoment(text: string, flag: string, now: number = Date.now()): number {
  const isIso = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/.test(text);
  // Without a zone a date with a time would mean the zone of this machine; it means UTC.
  const zoned =
    /[T ]\d{2}:\d{2}/.test(text) && !/(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? `${text.replace(" ", "T")}Z` : text;
  const seconds = /^\d{9,10}$/.test(text) ? Number(text) : isIso ? Math.floor(Date.parse(zoned) / 1000) : Number.NaN;
  if (!Number.isFinite(seconds)) {
    throw usageError(
      `${flag} is "${text}"`,
      "Give a date such as 2024-05-01 or 2024-05-01T12:00:00Z, or Unix seconds.",
    );
  }
  if (seconds < EARLIEST || seconds > now / 1000 + DAY) {
    const shown = new Date(seconds * 1000).toISOString();
    throw usageError(`${flag} is ${shown}`, "It must lie between the year 2000 and now.");
  }
  return seconds;
}
