import { bytes, type ImplementedRoute, implement } from "@kit/http-kernel";
import { errors } from "../contract/errors.js";
import { routes } from "../contract/routes.js";
import { type Answering, answerFromIndex, etagOf, knownEtag } from "./answer-from-index.js";

/** A new index is named by health as soon as it is open; small ones open within this, large ones show at the next call. */
const HEALTH_PATIENCE_MS = 25;

export function indexRoutes(answering: Answering): ImplementedRoute[] {
  return [
    implement(routes.getStatistics, (request) => answerFromIndex(answering, request, (index) => index.statistics()), {
      etag: (request) => knownEtag(answering, request),
    }),
    implement(
      routes.getTimeline,
      async (request) => {
        const index = await answering.source.current();
        if (index === undefined) throw errors.SERVICE_UNAVAILABLE();
        const etag = etagOf(index, request.url, answering.version);
        return bytes(await index.timeline(), { contentType: "application/json", etag });
      },
      { etag: (request) => knownEtag(answering, request) },
    ),
    implement(routes.getHealth, () => {
      const found = answering.source.current();
      if (!(found instanceof Promise)) return healthAnswer(answering);
      const patience = new Promise((resolve) => setTimeout(resolve, HEALTH_PATIENCE_MS).unref());
      return Promise.race([found, patience]).then(() => healthAnswer(answering));
    }),
  ];
}

function healthAnswer({ source, version }: Answering) {
  const index = source.loaded;
  const health = {
    status: index === undefined ? "degraded" : "ok",
    version,
    index_commit: index?.header.statistics.lastIndexedCommit ?? null,
  };
  return bytes(Buffer.from(JSON.stringify(health)), { contentType: "application/json" });
}
