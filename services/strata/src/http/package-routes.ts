import { type ImplementedRoute, implement } from "@kit/http-kernel";
import { errors } from "../contract/errors.js";
import { routes } from "../contract/routes.js";
import { describeNotFound } from "../query/describe-not-found.js";
import type { NotFound, PackageIndex } from "../query/package-index.js";
import { type Answering, answerFromIndex, knownEtag } from "./answer-from-index.js";

interface Asked {
  readonly attr: string;
  readonly version?: string;
}

export function packageRoutes(answering: Answering): ImplementedRoute[] {
  const etag = { etag: (request: { url: string }) => knownEtag(answering, request) };
  const answer = (request: { url: string; params: Asked }, find: (index: PackageIndex) => Buffer | NotFound) =>
    answerFromIndex(answering, request, (index) => foundOrThrow(find(index), request.params));
  const versionRoute = (
    route: typeof routes.getVersion | typeof routes.getFirst | typeof routes.getLast,
    which: "all" | "first" | "last",
  ) =>
    implement(
      route,
      (request) => answer(request, (index) => index.findVersion(request.params.attr, request.params.version, which)),
      etag,
    );
  return [
    implement(routes.getPackage, (request) => answer(request, (index) => index.findPackage(request.params.attr)), etag),
    versionRoute(routes.getVersion, "all"),
    versionRoute(routes.getFirst, "first"),
    versionRoute(routes.getLast, "last"),
    implement(routes.getHistory, (request) => answer(request, (index) => index.findHistory(request.params.attr)), etag),
  ];
}

function foundOrThrow(found: Buffer | NotFound, { attr, version }: Asked): Buffer {
  if (Buffer.isBuffer(found)) return found;
  throw errors.NOT_FOUND(describeNotFound(found, attr, version));
}
