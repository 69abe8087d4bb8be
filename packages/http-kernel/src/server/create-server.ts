// Puts the parts together: Node's server with its limits, fastify for routing and bodies, and around both the kernel's own
// rules (ids, log, CORS, rate limit, keys, errors), which hold for every answer, whoever made it.
import { createServer as createNodeServer, type Server } from "node:http";
import fastifyStatic from "@fastify/static";
import { type FastifyInstance, fastify } from "fastify";
import type { Logger } from "pino";
import type { ErrorTable } from "../contract/define-errors.js";
import { answerError } from "./answer-errors.js";
import { createKeyGuard } from "./api-keys.js";
import type { TrustProxy } from "./client-address.js";
import { ConnectionTracker } from "./connection-tracker.js";
import { CORS_OFF, type CorsPolicy, createCors } from "./cors.js";
import { type DocsOptions, docsRoutes } from "./docs-page.js";
import { createEntrance, type Entrance } from "./entrance.js";
import { EVENT_STREAM_LIMITS, type EventStreamLimits } from "./event-stream.js";
import { createExchangeEnd, exchangeOf } from "./exchange.js";
import type { ImplementedRoute } from "./implement.js";
import { type ListeningAddress, type ListenOptions, listenOn } from "./listen.js";
import { createMetrics, type RequestMetrics } from "./metrics.js";
import { metricsRoute } from "./metrics-route.js";
import { RateLimiter, type RateLimitRule } from "./rate-limit.js";
import { registerRoutes } from "./register-routes.js";
import { SERVER_LIMITS, type ServerLimits, SHUTDOWN_DEADLINE_MS } from "./server-limits.js";
import { createClientErrorHandler, createConnectHandler, refuse } from "./socket-errors.js";
import { type PagesOptions, registerPages } from "./static-pages.js";
import { StreamRegistry } from "./stream-registry.js";

export interface ServerOptions {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  readonly errors: ErrorTable;
  readonly routes: readonly ImplementedRoute[];
  readonly log: Logger;
  readonly docs?: DocsOptions;
  /** Path of the Prometheus page. Default `/metrics`; `false` leaves it out. */
  readonly metricsPath?: `/${string}` | false;
  readonly pages?: PagesOptions;
  readonly cors?: CorsPolicy;
  /** The service's own response headers that pages of other origins may read. */
  readonly exposedHeaders?: readonly string[];
  readonly rateLimit?: RateLimitRule | undefined;
  readonly trustProxy?: TrustProxy;
  /** With keys, every declared route needs one unless it is `keyExempt`. */
  readonly apiKeys?: readonly string[];
  /** Checks every JSON answer against its declaration and answers 500 where it differs: for tests and development. */
  readonly checkAnswers?: boolean;
  readonly limits?: Partial<ServerLimits>;
  readonly streamLimits?: Partial<EventStreamLimits>;
  /** Milliseconds, monotonic; for the rate limit. */
  readonly now?: () => number;
}

export interface KernelServer {
  readonly metrics: RequestMetrics;
  /** The OpenAPI document, when the server has docs. */
  readonly openapi: unknown;
  listen(options: ListenOptions): Promise<ListeningAddress>;
  /** Stops accepting, lets requests finish until the deadline, ends event streams, closes. */
  close(deadlineMs?: number): Promise<void>;
}

export async function createServer(options: ServerOptions): Promise<KernelServer> {
  const limits = { ...SERVER_LIMITS, ...options.limits };
  const metrics = createMetrics(options);
  const streams = new StreamRegistry(
    { ...EVENT_STREAM_LIMITS, ...options.streamLimits },
    metrics,
    options.errors,
    options.log,
  );
  const entrance = createEntranceFor(options, limits);
  const connections = new ConnectionTracker();
  const app = createApp(options, limits, entrance, metrics, connections);
  const docs = options.docs === undefined ? undefined : docsRoutes(options, options.docs);
  const routes = [...options.routes, ...(docs?.routes ?? [])];
  if (options.metricsPath !== false) routes.push(metricsRoute(options.metricsPath ?? "/metrics", metrics));
  await app.register(fastifyStatic, { serve: false, root: "/", dotfiles: "ignore" });
  registerRoutes({
    app,
    routes,
    entrance,
    streams,
    errors: options.errors,
    log: options.log,
    checkAnswers: options.checkAnswers ?? false,
  });
  if (options.pages !== undefined) await registerPages(app, options.pages, entrance);
  await app.ready();
  return {
    metrics,
    openapi: docs?.document,
    listen: (where) => listenOn(app, where),
    close: (deadlineMs = SHUTDOWN_DEADLINE_MS) => closeGracefully(app, connections, streams, deadlineMs),
  };
}

function createEntranceFor(options: ServerOptions, limits: ServerLimits): Entrance {
  const methods = [...new Set(["GET", "HEAD", ...options.routes.map(({ route }) => route.method), "OPTIONS"])];
  return createEntrance({
    errors: options.errors,
    limits,
    cors: createCors(options.cors ?? CORS_OFF, methods, options.exposedHeaders ?? []),
    trustsProxies: (options.trustProxy ?? false) !== false,
    corsEnabled: (options.cors ?? CORS_OFF).kind !== "off",
    limiter:
      options.rateLimit === undefined
        ? undefined
        : new RateLimiter(options.rateLimit, options.now === undefined ? {} : { now: options.now }),
    keys: options.apiKeys === undefined || options.apiKeys.length === 0 ? undefined : createKeyGuard(options.apiKeys),
  });
}

function createApp(
  options: ServerOptions,
  limits: ServerLimits,
  entrance: Entrance,
  metrics: RequestMetrics,
  connections: ConnectionTracker,
): FastifyInstance {
  const { errors, log } = options;
  const app = fastify<Server>({
    serverFactory: (handler) => createLimitedServer(options, limits, metrics, connections, handler),
    logger: false,
    // Each server of the factory has its own handler; fastify would add a second one to the first server.
    clientErrorHandler: () => undefined,
    genReqId: (request) => exchangeOf(request as Parameters<typeof exchangeOf>[0]).id,
    bodyLimit: limits.bodyLimit,
    trustProxy: options.trustProxy ?? false,
    // A request on a kept-alive connection during shutdown is answered properly, with `Connection: close`.
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.maxParsedBytes, querystringParser: (search) => ({ search }) },
    frameworkErrors: (error, request, reply) => {
      if (!entrance.enter(request, reply, { id: "none", rateLimitExempt: false, keyExempt: true })) return;
      answerError(reply, error, errors, log);
    },
  });
  app.removeAllContentTypeParsers();
  // The route's own check decides what a body must be; here it is only collected within its limit.
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, _request, reply) => answerError(reply, error, errors, log));
  return app;
}

function createLimitedServer(
  options: ServerOptions,
  limits: ServerLimits,
  metrics: RequestMetrics,
  connections: ConnectionTracker,
  handler: (...parameters: Parameters<Parameters<typeof createNodeServer>[1] & {}>) => void,
): Server {
  const end = createExchangeEnd(options.log, metrics);
  const server = createNodeServer(
    {
      maxHeaderSize: limits.maxParsedBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.connectionsCheckingIntervalMs,
      // A missing Host is refused by the entrance, as JSON and with an id.
      requireHostHeader: false,
      noDelay: true,
    },
    (request, response) => {
      exchangeOf(request);
      response.on("close", end);
      handler(request, response);
    },
  );
  server.maxHeadersCount = limits.maxHeadersCount;
  server.maxRequestsPerSocket = limits.maxRequestsPerSocket;
  server.timeout = limits.socketTimeoutMs;
  server.on("connection", (socket) => connections.opened(socket));
  server.on("clientError", createClientErrorHandler(options.errors, options.log));
  server.on("connect", createConnectHandler(options.errors));
  server.on("checkExpectation", (request, _response) =>
    refuse(request.socket, options.errors.EXPECTATION_FAILED(), exchangeOf(request).id),
  );
  return server;
}

const IDLE_CHECK_MS = 50;

async function closeGracefully(
  app: FastifyInstance,
  connections: ConnectionTracker,
  streams: StreamRegistry,
  deadlineMs: number,
): Promise<void> {
  streams.beginShutdown();
  // A connection becomes idle when its last answer is out, so they are looked for until none is left.
  const idle = setInterval(() => connections.closeIdle(), IDLE_CHECK_MS);
  const deadline = setTimeout(async () => {
    await streams.endAll();
    connections.closeAll();
  }, deadlineMs);
  try {
    connections.closeIdle();
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(deadline);
  }
}
