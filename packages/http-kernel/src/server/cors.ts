// Cross-origin rules. Written here rather than taken from a plugin because the headers must also stand on answers that
// are made before any plugin runs (429, bad addresses), and off must mean no such header at all.
import { SettingError } from "./setting-error.js";

export type CorsPolicy =
  | { readonly kind: "off" }
  | { readonly kind: "all" }
  | { readonly kind: "list"; readonly origins: ReadonlySet<string> };

export const CORS_OFF: CorsPolicy = { kind: "off" };

/** A list is narrower than "all", so it wins when both are set. */
export function parseCors(settings: {
  readonly cors?: boolean;
  readonly corsOrigins?: string | readonly string[];
}): CorsPolicy {
  const given = settings.corsOrigins ?? [];
  const list = (typeof given === "string" ? given.split(",") : [...given])
    .map((origin) => origin.trim())
    .filter((origin) => origin !== "");
  if (list.length > 0) return { kind: "list", origins: new Set(list.map(parseOrigin)) };
  return settings.cors === true ? { kind: "all" } : CORS_OFF;
}

function parseOrigin(origin: string): string {
  const refuse = (why: string) =>
    new SettingError(
      `--cors-origins: '${origin}' ${why}; write origins like https://example.org or http://localhost with a port`,
    );
  if (origin === "*") throw new SettingError("--cors-origins: '*' is not an origin; use --cors to allow all origins");
  if (!URL.canParse(origin)) throw refuse("is not an origin");
  const url = new URL(origin);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refuse("is not http or https");
  if (url.username !== "" || url.password !== "") throw refuse("holds a user name");
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") throw refuse("has more than scheme, host and port");
  return url.origin;
}

export interface CorsHeaders {
  /** For every ordinary answer to this origin. */
  forAnswer(origin: string | undefined): Readonly<Record<string, string>>;
  forPreflight(origin: string, requestedHeaders: string | undefined): Readonly<Record<string, string>>;
}

/** Browsers cap this themselves (Chromium at two hours). */
const PREFLIGHT_MAX_AGE_S = 7200;
const REQUEST_HEADERS = "Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Api-Key, X-Request-ID";
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,1024}$/;
const ALWAYS_EXPOSED = ["X-Request-ID", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"];
const NONE: Readonly<Record<string, string>> = {};

export function createCors(policy: CorsPolicy, methods: readonly string[], exposed: readonly string[]): CorsHeaders {
  const exposedHeaders = [...ALWAYS_EXPOSED, ...exposed].join(", ");
  const allowed = (origin: string | undefined): string | undefined => {
    if (policy.kind === "all") return "*";
    return policy.kind === "list" && origin !== undefined && policy.origins.has(origin) ? origin : undefined;
  };
  const vary: Readonly<Record<string, string>> = policy.kind === "list" ? { vary: "Origin" } : NONE;
  const answerTo = (origin: string) => ({
    ...vary,
    "access-control-allow-origin": origin,
    "access-control-expose-headers": exposedHeaders,
  });
  const toAll = answerTo("*");
  return {
    forAnswer(origin) {
      if (policy.kind === "off") return NONE;
      if (policy.kind === "all") return toAll;
      const to = allowed(origin);
      return to === undefined ? vary : answerTo(to);
    },
    forPreflight(origin, requestedHeaders) {
      const to = allowed(origin);
      if (to === undefined) return vary;
      return {
        "access-control-allow-origin": to,
        "access-control-allow-methods": methods.join(", "),
        "access-control-allow-headers":
          requestedHeaders !== undefined && HEADER_LIST.test(requestedHeaders) ? requestedHeaders : REQUEST_HEADERS,
        "access-control-max-age": String(PREFLIGHT_MAX_AGE_S),
        vary: policy.kind === "list" ? "Origin, Access-Control-Request-Headers" : "Access-Control-Request-Headers",
      };
    },
  };
}
