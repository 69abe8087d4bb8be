// What happens to every request before its handler, in this order: id, address length, CORS, preflight, rate limit, key.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ErrorTable } from "../contract/define-errors.js";
import { answerError } from "./answer-errors.js";
import type { KeyGuard } from "./api-keys.js";
import { rateLimitKey } from "./client-address.js";
import type { CorsHeaders } from "./cors.js";
import { exchangeOf } from "./exchange.js";
import type { RateLimiter } from "./rate-limit.js";
import type { ServerLimits } from "./server-limits.js";
import { silentLog } from "./silent-log.js";

export interface EntranceOptions {
  readonly errors: ErrorTable;
  readonly limits: Pick<ServerLimits, "maxUrlLength" | "maxHeaderBytes">;
  readonly cors: CorsHeaders;
  readonly corsEnabled: boolean;
  /** The log then shows the address a proxy vouches for. */
  readonly trustsProxies: boolean;
  readonly limiter: RateLimiter | undefined;
  readonly keys: KeyGuard | undefined;
}

/** What of a route matters at the entrance. */
export interface EntranceRules {
  readonly id: string;
  readonly rateLimitExempt: boolean;
  readonly keyExempt: boolean;
}

export interface Entrance {
  /** `false`: the request has been answered here. */
  enter(request: FastifyRequest, reply: FastifyReply, rules: EntranceRules): boolean;
}

export function createEntrance(options: EntranceOptions): Entrance {
  const { errors, cors, corsEnabled, limiter, keys } = options;
  const { maxUrlLength, maxHeaderBytes } = options.limits;
  const refuse = (reply: FastifyReply, error: Error): false => {
    answerError(reply, error, errors, silentLog);
    return false;
  };
  return {
    enter(request, reply, rules) {
      const { raw } = request;
      const exchange = exchangeOf(raw);
      exchange.routeId = rules.id;
      if (exchange.entered) return true;
      exchange.entered = true;
      reply.header("x-request-id", exchange.id);
      const { origin, host } = raw.headers;
      if (corsEnabled) reply.headers(cors.forAnswer(origin));
      if (exchange.url.length > maxUrlLength) {
        reply.header("connection", "close");
        return refuse(
          reply,
          errors.URI_TOO_LONG(`The address has ${exchange.url.length} bytes; at most ${maxUrlLength} are allowed`),
        );
      }
      if (headerBytes(raw.rawHeaders) > maxHeaderBytes) {
        reply.header("connection", "close");
        return refuse(reply, errors.HEADERS_TOO_LARGE(`The headers have more than ${maxHeaderBytes} bytes`));
      }
      if (host === undefined && raw.httpVersion === "1.1")
        return refuse(reply, errors.BAD_REQUEST("The Host header is missing"));
      if (corsEnabled && isPreflight(request)) {
        reply
          .code(204)
          .headers(cors.forPreflight(origin as string, raw.headers["access-control-request-headers"]))
          .send();
        return false;
      }
      if (options.trustsProxies) exchange.address = request.ip;
      if (limiter !== undefined && !rules.rateLimitExempt) {
        if (!takeToken(limiter, request, reply))
          return refuse(
            reply,
            errors.RATE_LIMITED(`Too many requests. Try again in ${reply.getHeader("retry-after")} s`),
          );
      }
      if (keys !== undefined && !rules.keyExempt && !keys.allows(raw.headers)) {
        reply.header("www-authenticate", "Bearer");
        return refuse(
          reply,
          errors.UNAUTHORIZED("A valid API key is needed: send it as X-Api-Key or as Authorization: Bearer"),
        );
      }
      return true;
    },
  };
}

function headerBytes(rawHeaders: readonly string[]): number {
  let bytes = 0;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}

function isPreflight(request: FastifyRequest): boolean {
  const { headers, method } = request.raw;
  return method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

function takeToken(limiter: RateLimiter, request: FastifyRequest, reply: FastifyReply): boolean {
  const decision = limiter.take(rateLimitKey(request.ip, request.socket.remoteAddress ?? ""));
  reply.header("ratelimit-limit", decision.limit);
  reply.header("ratelimit-remaining", decision.remaining);
  reply.header("ratelimit-reset", decision.resetSeconds);
  if (!decision.allowed) reply.header("retry-after", decision.retryAfterSeconds);
  return decision.allowed;
}
