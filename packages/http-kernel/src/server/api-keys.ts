// The key guard. Keys are compared as digests in constant time, and all of them each time, so that timing tells nothing.
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface KeyGuard {
  allows(headers: IncomingHttpHeaders): boolean;
}

export function createKeyGuard(keys: readonly string[]): KeyGuard {
  const digests = keys.map(digest);
  return {
    allows(headers) {
      const given = keyIn(headers);
      if (given === undefined) return false;
      const candidate = digest(given);
      let matches = 0;
      for (const known of digests) matches |= timingSafeEqual(candidate, known) ? 1 : 0;
      return matches === 1;
    },
  };
}

function keyIn(headers: IncomingHttpHeaders): string | undefined {
  const header = headers["x-api-key"];
  if (typeof header === "string" && header !== "") return header;
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
