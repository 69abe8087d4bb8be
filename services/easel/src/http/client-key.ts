import { createHash } from "node:crypto";
import type { RouteRequest } from "@kit/http-kernel";

/** Whose turn a job counts for. A key counts only where keys are checked: otherwise every job could invent its own. */
export function clientKeyOf(request: Pick<RouteRequest, "address" | "rawHeaders">, hasKeys: boolean): string {
  const key = hasKeys ? (request.rawHeaders["x-api-key"] ?? request.rawHeaders.authorization) : undefined;
  if (typeof key !== "string") return request.address;
  // The key itself must not lie in a journal.
  return `key-${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}
