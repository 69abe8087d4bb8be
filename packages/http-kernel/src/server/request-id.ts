// Correlation id: the client's own if it is harmless to repeat in a header and a log line, else a new one.
import { randomUUID } from "node:crypto";

/** Visible ASCII only: no blanks, no controls, nothing that could break out of a header or a log line. */
const ACCEPTABLE = /^[\x21-\x7e]{1,128}$/;

export function requestIdFor(given: string | string[] | undefined): string {
  return typeof given === "string" && ACCEPTABLE.test(given) ? given : randomUUID();
}
