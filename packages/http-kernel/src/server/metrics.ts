// Prometheus metrics. Labels are route ids, methods and statuses only: nothing a client can make up.
// Requests are counted in plain arrays and turned into prom-client's form when somebody scrapes: its own counters hash their
// labels on every request, which alone costs a tenth of a small answer's time.
import {
  collectDefaultMetrics,
  Gauge,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";

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
const LABELLED_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const OTHER_METHOD = "other";
/** Statuses have three digits, so method and status fit one number. */
const METHOD_STEP = 1000;

class RouteCounts {
  /** Index of the method times 1000, plus status. */
  readonly answers = new Map<number, number>();
  /** One more than the bounds: the last holds what is slower than all. */
  readonly buckets = new Float64Array(SECONDS_BUCKETS.length + 1);
  seconds = 0;

  add(method: string, status: number, seconds: number): void {
    const key = LABELLED_METHODS.indexOf(method) * METHOD_STEP + status;
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
    let bucket = 0;
    while (bucket < SECONDS_BUCKETS.length && seconds > (SECONDS_BUCKETS[bucket] as number)) bucket++;
    this.buckets[bucket] = (this.buckets[bucket] as number) + 1;
    this.seconds += seconds;
  }
}

/** A registry per server, so that two servers in one process (tests) do not share counts. */
export function createMetrics(service: { readonly name: string; readonly version: string }): RequestMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const routes = new Map<string, RouteCounts>();
  register(registry, "http_requests_total", "Answered requests.", "counter", () => requestValues(routes));
  register(
    registry,
    "http_request_duration_seconds",
    "Time from the request's headers to the end of its answer.",
    "histogram",
    () => timeValues(routes),
  );
  new Gauge({
    name: "service_info",
    help: "Always 1; the labels say what runs.",
    labelNames: ["name", "version"],
    registers: [registry],
  }).set({ name: service.name, version: service.version }, 1);
  const streams = new Gauge({
    name: "http_event_streams_open",
    help: "Event streams being read now.",
    registers: [registry],
  });
  return {
    registry,
    observe(method, routeId, status, ms) {
      let counts = routes.get(routeId);
      if (counts === undefined) {
        counts = new RouteCounts();
        routes.set(routeId, counts);
      }
      counts.add(method, status, ms / 1000);
    },
    streamOpened: () => streams.inc(),
    streamClosed: () => streams.dec(),
  };
}

type Value = MetricValue<string> & { readonly metricName?: string };

/** prom-client asks a metric only for `name` and `get`. */
function register(registry: Registry, name: string, help: string, type: string, values: () => Value[]): void {
  const get = async () =>
    ({ name, help, type, values: values(), aggregator: "sum" }) as unknown as MetricObjectWithValues<Value>;
  registry.registerMetric({ name, get, reset: () => undefined } as unknown as Metric);
}

function requestValues(routes: ReadonlyMap<string, RouteCounts>): Value[] {
  return [...routes].flatMap(([route, { answers }]) =>
    [...answers].map(([key, value]) => {
      const method = LABELLED_METHODS[Math.floor(key / METHOD_STEP)] ?? OTHER_METHOD;
      const status = ((key % METHOD_STEP) + METHOD_STEP) % METHOD_STEP;
      return { labels: { method, route, status }, value };
    }),
  );
}

function timeValues(routes: ReadonlyMap<string, RouteCounts>): Value[] {
  const name = "http_request_duration_seconds";
  return [...routes].flatMap(([route, { buckets, seconds }]) => {
    let count = 0;
    const rows = [...SECONDS_BUCKETS, "+Inf"].map((le, index) => {
      count += buckets[index] as number;
      return { labels: { le, route }, value: count, metricName: `${name}_bucket` };
    });
    return [
      ...rows,
      { labels: { route }, value: seconds, metricName: `${name}_sum` },
      { labels: { route }, value: count, metricName: `${name}_count` },
    ];
  });
}
