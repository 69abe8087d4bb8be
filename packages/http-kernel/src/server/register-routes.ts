// Turns implemented routes into fastify routes: entrance, checks compiled from the declaration, handler, answer; and for
// every path the methods it does not have, so that they get 405 with `Allow`.
import { METHODS } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import type { Logger } from "pino";
import type { TObject, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { contentTypesOf, type RouteDeclaration } from "../contract/declare-route.js";
import type { ErrorTable } from "../contract/define-errors.js";
import { compileBody } from "../validation/check-body.js";
import { compileQuery, compileTexts, type ParameterValue } from "../validation/read-parameters.js";
import { EventStreamAnswer, JsonAnswer } from "./answers.js";
import type { Entrance, EntranceRules } from "./entrance.js";
import { HandlerRequest, type ImplementedRoute } from "./implement.js";
import { cacheRulesOf, matches, sendAnswer, sendNotModified } from "./send-answer.js";
import type { StreamRegistry } from "./stream-registry.js";

export interface RegisterOptions {
  readonly app: FastifyInstance;
  readonly routes: readonly ImplementedRoute[];
  readonly entrance: Entrance;
  readonly streams: StreamRegistry;
  readonly errors: ErrorTable;
  readonly log: Logger;
  readonly checkAnswers: boolean;
}

export function registerRoutes(options: RegisterOptions): void {
  const { app, routes, entrance, errors } = options;
  const methodsByPath = new Map<string, Set<string>>();
  // Paths are compared by shape: two spellings of a parameter's name are the same path to the router.
  const seen = new Set<string>();
  for (const implemented of routes) {
    const { route } = implemented;
    const key = `${route.method} ${route.path.replaceAll(/\{[^}]*\}/g, "{}")}`;
    if (seen.has(key)) throw new Error(`Two routes answer ${key}`);
    seen.add(key);
    const url = routerPath(route.path);
    const methods = methodsByPath.get(url) ?? new Set<string>();
    methodsByPath.set(url, methods.add(route.method));
    if (route.method === "GET") methods.add("HEAD");
    registerRoute(options, implemented, url);
  }
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const [url, methods] of methodsByPath) registerOtherMethods(options, url, methods);
  app.setNotFoundHandler((request, reply) => {
    if (!entrance.enter(request, reply, { id: "none", rateLimitExempt: false, keyExempt: true })) return;
    const path = (request.raw.url ?? "/").split("?", 1)[0];
    throw errors.NOT_FOUND(`There is nothing at ${request.method} ${path?.slice(0, LONGEST_SHOWN_PATH)}`);
  });
}

const LONGEST_SHOWN_PATH = 200;

function routerPath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ":$1");
}

function rulesOf(route: RouteDeclaration): EntranceRules {
  return { id: route.id, rateLimitExempt: route.rateLimitExempt ?? false, keyExempt: route.keyExempt ?? false };
}

function registerRoute(options: RegisterOptions, implemented: ImplementedRoute, url: string): void {
  const { app, entrance } = options;
  const { route } = implemented;
  const rules = rulesOf(route);
  app.route({
    method: route.method,
    url,
    ...(route.bodyLimit === undefined ? {} : { bodyLimit: route.bodyLimit }),
    onRequest: (request, reply, done) => {
      if (entrance.enter(request, reply, rules)) done();
    },
    handler: createHandler(options, implemented),
  });
}

function createHandler(
  options: RegisterOptions,
  implemented: ImplementedRoute,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const { streams, log, errors } = options;
  const { route, handle, etag } = implemented;
  const cache = cacheRulesOf(route);
  const check = compileChecks(route, errors);
  const checkAnswer = options.checkAnswers ? compileAnswerCheck(route) : undefined;
  const finish = (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: unknown,
    validator: string | undefined,
  ): void => {
    checkAnswer?.(answer);
    if (answer instanceof EventStreamAnswer)
      streams.run(request, reply, answer).catch((error: unknown) => void reply.send(asError(error)));
    else sendAnswer(request, reply, cache, answer, validator);
  };
  return (request, reply) => {
    const parts = check(request);
    const handlerRequest = new HandlerRequest(request, reply, log, parts);
    const validator = etag?.(handlerRequest);
    if (validator !== undefined && matches(request.headers["if-none-match"], validator)) {
      if (cache.cacheControl !== undefined) reply.header("cache-control", cache.cacheControl);
      return sendNotModified(request, reply, validator);
    }
    const answer = handle(handlerRequest);
    if (!(answer instanceof Promise)) return finish(request, reply, answer, validator);
    answer
      .then((settled) => finish(request, reply, settled, validator))
      .catch((error: unknown) => void reply.send(asError(error)));
  };
}

/** fastify takes only Error objects for failures; anything else it would send to the client. */
function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`A handler threw ${String(thrown)}`);
}

type Parts = {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  headers: Record<string, unknown>;
  body: unknown;
};
const NO_VALUES: Record<string, ParameterValue> = {};

function compileChecks(route: RouteDeclaration, errors: ErrorTable): (request: FastifyRequest) => Parts {
  const fail = errors.$invalid;
  const readQuery = compileQuery(route.query, fail);
  const readParams = route.params === undefined ? undefined : compileTexts("Path parameter", route.params, fail);
  const readHeaders = route.headers === undefined ? undefined : compileTexts("Header", route.headers as TObject, fail);
  const readBody = route.body === undefined ? undefined : createBodyReader(route.body, errors);
  return (request) => {
    const params = request.params as Record<string, string>;
    for (const name in params) {
      if (params[name] === "") throw errors.NOT_FOUND(`There is nothing at this path: '${name}' is empty`);
    }
    return {
      params: readParams === undefined ? params : { ...params, ...readParams(params) },
      query: readQuery((request.query as { search: string }).search),
      headers: readHeaders === undefined ? NO_VALUES : readHeaders(request.headers),
      body: readBody === undefined ? undefined : readBody(request),
    };
  };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const JSON_MEDIA_TYPE = /^application\/(?:json|[a-z0-9.-]+\+json)\s*(?:;|$)/i;

function createBodyReader(schema: TSchema, errors: ErrorTable): (request: FastifyRequest) => unknown {
  const check = compileBody(schema, errors.$invalid);
  return (request) => {
    const bytes = request.body;
    if (!Buffer.isBuffer(bytes) || bytes.length === 0)
      throw errors.$malformedBody("The body is empty: send a JSON object");
    const type = request.headers["content-type"];
    if (type === undefined || !JSON_MEDIA_TYPE.test(type)) {
      throw errors.UNSUPPORTED_MEDIA_TYPE(
        `The body must be application/json, not ${type === undefined ? "without a Content-Type" : `'${type.slice(0, 100)}'`}`,
      );
    }
    return check(parseJson(bytes, errors));
  };
}

function parseJson(bytes: Buffer, errors: ErrorTable): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    throw errors.$malformedBody(`The body is not valid JSON: ${reason}`);
  }
}

function registerOtherMethods(options: RegisterOptions, url: string, methods: ReadonlySet<string>): void {
  const { app, entrance, errors } = options;
  const allow = [...methods, "OPTIONS"].join(", ");
  const rules: EntranceRules = { id: "none", rateLimitExempt: false, keyExempt: true };
  const others = METHODS.filter((method) => method !== "CONNECT" && !methods.has(method)) as HTTPMethods[];
  app.route({
    method: others,
    url,
    exposeHeadRoute: false,
    onRequest: (request, reply, done) => {
      if (!entrance.enter(request, reply, rules)) return;
      reply.header("allow", allow);
      if (request.method === "OPTIONS") return void reply.code(204).send();
      done(errors.METHOD_NOT_ALLOWED(`This path answers ${allow}, not ${request.method}`));
    },
    handler: () => undefined,
  });
}

function compileAnswerCheck(route: RouteDeclaration): (answer: unknown) => void {
  const checks = new Map(
    Object.entries(route.responses).flatMap(([status, response]) =>
      response.schema !== undefined && contentTypesOf(response).includes("application/json")
        ? [[Number(status), Compile(response.schema)] as const]
        : [],
    ),
  );
  return (answer) => {
    const isPlain = typeof answer === "object" && answer !== null && Object.getPrototypeOf(answer) === Object.prototype;
    if (!isPlain && !Array.isArray(answer) && !(answer instanceof JsonAnswer)) return;
    const status = answer instanceof JsonAnswer ? (answer.options.status ?? 200) : 200;
    const value = answer instanceof JsonAnswer ? answer.value : answer;
    const [first] = checks.get(status)?.Errors(value) ?? [];
    if (first !== undefined)
      throw new Error(`The answer of ${route.id} breaks its declaration at '${first.instancePath}': ${first.message}`);
  };
}
