// What is known of one request from its first byte to the end of its answer: id, timing, route, for log and metrics.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { RequestMetrics } from "./metrics.js";
import { requestIdFor } from "./request-id.js";

const EXCHANGE = Symbol("exchange");

export class Exchange {
  readonly id: string;
  readonly startedAt = performance.now();
  readonly method: string;
  readonly url: string;
  /** Id of the declared route; requests that reach none share one label, so that strangers cannot grow the metrics. */
  routeId = "none";
  address: string | undefined;
  entered = false;

  constructor(request: IncomingMessage) {
    this.id = requestIdFor(request.headers["x-request-id"]);
    this.method = request.method ?? "GET";
    this.url = request.url ?? "/";
    this.address = request.socket.remoteAddress;
  }
}

interface Carrier {
  [EXCHANGE]?: Exchange;
}

export function exchangeOf(request: IncomingMessage): Exchange {
  const carrier = request as IncomingMessage & Carrier;
  carrier[EXCHANGE] ??= new Exchange(request);
  return carrier[EXCHANGE];
}

/** Addresses are cut in the log: a scanner's 8 KiB line helps nobody. */
const LONGEST_LOGGED_URL = 512;
/** As other servers log it: the client left before the answer was complete. */
const CLIENT_LEFT = 499;

/** One function for all requests of a server, so that a request costs no closure. */
export function createExchangeEnd(log: Logger, metrics: RequestMetrics): (this: ServerResponse) => void {
  return function end() {
    const exchange = exchangeOf(this.req);
    const status = this.writableFinished ? this.statusCode : CLIENT_LEFT;
    const ms = performance.now() - exchange.startedAt;
    metrics.observe(exchange.method, exchange.routeId, status, ms);
    const level = status >= 500 ? "error" : "info";
    if (!log.isLevelEnabled(level)) return;
    log[level](
      {
        requestId: exchange.id,
        method: exchange.method,
        url: exchange.url.slice(0, LONGEST_LOGGED_URL),
        route: exchange.routeId,
        status,
        ms: Math.round(ms * 1000) / 1000,
        address: exchange.address,
      },
      "request",
    );
  };
}
