// Prometheus metrics. Labels are route ids, methods and statuses only: nothing a client can make up.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface RequestMetrics {
  readonly registry: Registry;
  observe(method: string, routeId: string, status: number, ms: number): void;
  streamOpened(): void;
  streamClosed(): void;
}

/** From cached answers (a tenth of a millisecond) to generations of minutes. */
const SECONDS_BUCKETS = [
  0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
];
/** A client may send any of forty methods; only these get a label of their own. */
const LABELLED_METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** A registry per server, so that two servers in one process (tests) do not share counts. */
export function createMetrics(): RequestMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "http_requests_total",
    help: "Answered requests.",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from the request's headers to the end of its answer.",
    labelNames: ["route"],
    buckets: SECONDS_BUCKETS,
    registers: [registry],
  });
  const streams = new Gauge({
    name: "http_event_streams_open",
    help: "Event streams being read now.",
    registers: [registry],
  });
  return {
    registry,
    observe(method, route, status, ms) {
      requests.inc({ method: LABELLED_METHODS.has(method) ? method : "other", route, status });
      seconds.observe({ route }, ms / 1000);
    },
    streamOpened: () => streams.inc(),
    streamClosed: () => streams.dec(),
  };
}
