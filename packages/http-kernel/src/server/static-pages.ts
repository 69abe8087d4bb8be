// A built web page from a directory: hashed assets are kept for ever by browsers, the index is asked for each time, deep
// links get the index, precompressed forms beside a file (.br, .gz) are used.
import { sep } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import type { Entrance, EntranceRules } from "./entrance.js";

export interface PagesOptions {
  readonly directory: string;
  /** Paths that the page itself interprets: each answers with the index. `/gallery/*` takes everything below. */
  readonly deepLinks?: readonly `/${string}`[];
  /** Folder inside the directory whose file names carry a hash of the content. Default `assets`. */
  readonly hashedFolder?: string;
}

const ONE_YEAR = "public, max-age=31536000, immutable";
/** Kept, but asked for: a new release shows at the next visit. */
const REVALIDATE = "no-cache";

export async function registerPages(app: FastifyInstance, pages: PagesOptions, entrance: Entrance): Promise<void> {
  const rules: EntranceRules = { id: "page", rateLimitExempt: true, keyExempt: true };
  const hashed = `${sep}${pages.hashedFolder ?? "assets"}${sep}`;
  await app.register(async (scope) => {
    scope.addHook("onRequest", (request, reply, done) => {
      if (entrance.enter(request, reply, rules)) done();
    });
    await scope.register(fastifyStatic, {
      root: pages.directory,
      // A route for each file there is: every other path stays a plain 404, which counts against the rate limit.
      wildcard: false,
      decorateReply: false,
      preCompressed: true,
      dotfiles: "ignore",
      cacheControl: false,
      setHeaders: (response, path) => {
        response.setHeader("cache-control", path.includes(hashed) ? ONE_YEAR : REVALIDATE);
      },
    });
    for (const link of pages.deepLinks ?? []) {
      scope.get(link, (_request, reply) =>
        reply.header("cache-control", REVALIDATE).sendFile("index.html", pages.directory, { cacheControl: false }),
      );
    }
  });
}
