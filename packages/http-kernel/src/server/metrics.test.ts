import { describe, expect, it } from "vitest";
import { createMetrics } from "./metrics.js";

describe("createMetrics", () => {
  it("writes counts and times in Prometheus' text format", async () => {
    const metrics = createMetrics({ name: "demo", version: "1.2.3" });
    metrics.observe("GET", "search", 200, 3);
    metrics.observe("GET", "search", 200, 400);
    metrics.observe("GET", "search", 404, 1_000_000);
    metrics.observe("PROPFIND", "none", 405, 1);
    const text = await metrics.registry.metrics();
    for (const line of [
      "# TYPE http_requests_total counter",
      'http_requests_total{method="GET",route="search",status="200"} 2',
      'http_requests_total{method="GET",route="search",status="404"} 1',
      'http_requests_total{method="other",route="none",status="405"} 1',
      "# TYPE http_request_duration_seconds histogram",
      'http_request_duration_seconds_bucket{le="0.0025",route="search"} 0',
      'http_request_duration_seconds_bucket{le="0.005",route="search"} 1',
      'http_request_duration_seconds_bucket{le="0.5",route="search"} 2',
      'http_request_duration_seconds_bucket{le="300",route="search"} 2',
      'http_request_duration_seconds_bucket{le="+Inf",route="search"} 3',
      'http_request_duration_seconds_sum{route="search"} 1000.403',
      'http_request_duration_seconds_count{route="search"} 3',
      "http_event_streams_open 0",
      'service_info{name="demo",version="1.2.3"} 1',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).toContain("process_resident_memory_bytes");
  });
});
