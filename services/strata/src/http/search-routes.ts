import { type ImplementedRoute, implement } from "@kit/http-kernel";
import { routes } from "../contract/routes.js";
import { type Answering, answerFromIndex, knownEtag } from "./answer-from-index.js";

export function searchRoutes(answering: Answering): ImplementedRoute[] {
  const etag = { etag: (request: { url: string }) => knownEtag(answering, request) };
  return [
    implement(
      routes.search,
      (request) => {
        const { q, version, exact, license, sort, reverse, limit, offset } = request.query;
        return answerFromIndex(answering, request, (index) =>
          index.search({
            q,
            version: version ?? null,
            license: license ?? null,
            exact: exact!,
            sort: sort!,
            reverse: reverse!,
            limit: limit!,
            offset: offset!,
          }),
        );
      },
      etag,
    ),
    implement(
      routes.searchDescriptions,
      (request) => {
        const { q, limit, offset } = request.query;
        return answerFromIndex(answering, request, (index) =>
          index.searchDescriptions({ q, limit: limit!, offset: offset! }),
        );
      },
      etag,
    ),
  ];
}
