import { validateHeaderName, validateHeaderValue } from "node:http";

type HeaderValues = Readonly<Record<string, string | readonly string[]>>;

/**
 * Throws for headers that cannot be sent (line breaks, characters beyond Latin-1). Checked before anything is set: found out
 * only when the answer is written, it would fail again in the answer to that failure.
 */
export function checkHeaders(headers: HeaderValues | undefined): void {
  if (headers === undefined) return;
  for (const [name, values] of Object.entries(headers)) {
    validateHeaderName(name);
    for (const value of typeof values === "string" ? [values] : values) validateHeaderValue(name, value);
  }
}
