// The OpenAPI document and the page that shows it. The page's script is served from here and a content policy forbids every
// other host, so that it works, and stays silent, without a network.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { declareRoute } from "../contract/declare-route.js";
import type { ErrorTable } from "../contract/define-errors.js";
import { describeApi } from "../openapi/describe-api.js";
import { type BytesAnswer, bytes } from "./answers.js";
import { type ImplementedRoute, implement } from "./implement.js";

export interface DocsOptions {
  /** Path of the page, e.g. `/docs`. */
  readonly page: `/${string}`;
  /** Path of the document, e.g. `/openapi.json`. */
  readonly document: `/${string}`;
}

interface DocumentedService {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  readonly errors: ErrorTable;
  readonly routes: readonly ImplementedRoute[];
  readonly apiKeys?: readonly string[];
}

/** The script is 3.5 MB and changes only with the release. */
const SCRIPT_MAX_AGE_S = 3600;
const CONTENT_POLICY =
  "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'";

export function docsRoutes(
  service: DocumentedService,
  docs: DocsOptions,
): { routes: ImplementedRoute[]; document: unknown } {
  const shared = {
    method: "GET",
    tag: "documentation",
    errors: [],
    rateLimitExempt: true,
    keyExempt: true,
    hidden: true,
  } as const;
  const document = describeApi({
    title: service.title,
    version: service.version,
    ...(service.description === undefined ? {} : { description: service.description }),
    errors: service.errors,
    routes: service.routes.map(({ route }) => route),
    hasKeys: (service.apiKeys?.length ?? 0) > 0,
  });
  const documentBytes = Buffer.from(JSON.stringify(document, null, 2));
  const pageBytes = Buffer.from(pageText(service.title, docs));
  const documentRoute = declareRoute({
    ...shared,
    id: "openapi_document",
    path: docs.document,
    summary: "The OpenAPI document",
    responses: { 200: { description: "OpenAPI 3.1", contentType: "application/json" } },
    cache: { maxAge: 60 },
  });
  const pageRoute = declareRoute({
    ...shared,
    id: "docs_page",
    path: docs.page,
    summary: "Interactive documentation",
    responses: { 200: { description: "The page", contentType: "text/html" } },
    cache: { maxAge: 60 },
  });
  const scriptRoute = declareRoute({
    ...shared,
    id: "docs_script",
    path: scriptPath(docs),
    summary: "Script of the documentation page",
    responses: { 200: { description: "The script", contentType: "text/javascript" } },
    cache: { maxAge: SCRIPT_MAX_AGE_S },
  });
  const script = createScriptAnswer();
  return {
    document,
    routes: [
      implement(documentRoute, () => bytes(documentBytes, { contentType: "application/json" })),
      implement(pageRoute, () =>
        bytes(pageBytes, {
          contentType: "text/html; charset=utf-8",
          headers: { "content-security-policy": CONTENT_POLICY },
        }),
      ),
      implement(scriptRoute, script),
    ],
  };
}

function scriptPath(docs: DocsOptions): `/${string}` {
  return `${docs.page}/reference.js`;
}

/** Read on first use, kept after: most servers never show the page. */
function createScriptAnswer(): () => Promise<BytesAnswer> {
  let answer: Promise<BytesAnswer> | undefined;
  return () => {
    answer ??= readFile(
      fileURLToPath(new URL("./js/standalone.js", import.meta.resolve("@scalar/fastify-api-reference"))),
    ).then((script) => bytes(script, { contentType: "text/javascript; charset=utf-8" }));
    return answer;
  };
}

function pageText(title: string, docs: DocsOptions): string {
  const configuration = JSON.stringify({
    url: docs.document,
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: "never",
    defaultOpenAllTags: true,
    agent: { disabled: true },
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="reference"></div>
<script src="${scriptPath(docs)}"></script>
<script>Scalar.createApiReference("#reference", ${configuration.replaceAll("<", "\\u003c")});</script>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
