import { declareRoute } from "../contract/declare-route.js";
import { bytes } from "./answers.js";
import { type ImplementedRoute, implement } from "./implement.js";
import type { RequestMetrics } from "./metrics.js";

/** Scrapers come without a key and as often as they like; keep the path from the outside at the proxy. */
export function metricsRoute(path: `/${string}`, metrics: RequestMetrics): ImplementedRoute {
  const contentType = metrics.registry.contentType;
  const route = declareRoute({
    id: "metrics",
    method: "GET",
    path,
    summary: "Metrics for Prometheus",
    tag: "operation",
    responses: { 200: { description: "Metrics in the text format", contentType: "text/plain" } },
    errors: [],
    noStore: true,
    rateLimitExempt: true,
    keyExempt: true,
  });
  return implement(route, async () => bytes(Buffer.from(await metrics.registry.metrics()), { contentType }));
}
