import { toUSVString } from "node:util";

/** The JSON text of a value. A lone surrogate has no UTF-8; it becomes U+FFFD here, once, instead of at every later encoding. */
export function jsonText(value: string | readonly string[] | null): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(toUSVString(value));
  return JSON.stringify(value.map(toUSVString));
}
