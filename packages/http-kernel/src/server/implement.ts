// Ties a handler to a declared route; the types of parameters, body, events and answer come from the declaration.
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type {
  BodyOf,
  EventsOf,
  HeadersOf,
  JsonOf,
  ParamsOf,
  QueryOf,
  RouteDeclaration,
} from "../contract/declare-route.js";
import {
  type BytesAnswer,
  EventStreamAnswer,
  type EventStreamOptions,
  type FileAnswer,
  type JsonAnswer,
} from "./answers.js";
import type { EventStreamWriter } from "./event-stream.js";

/** One request as a handler sees it. */
export interface RouteRequest<R extends RouteDeclaration = RouteDeclaration> {
  readonly id: string;
  readonly params: ParamsOf<R>;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  /** The declared headers, checked. */
  readonly headers: HeadersOf<R>;
  /** All headers as they came, names in lower case. */
  readonly rawHeaders: IncomingHttpHeaders;
  readonly url: string;
  /** The client's address, seen through trusted proxies only. */
  readonly address: string;
  readonly log: Logger;
  /** Aborts when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
  /** The client names this media type in `Accept` itself (a wildcard does not count). */
  wants(mediaType: string): boolean;
  /** An answer that streams the route's declared events. */
  eventStream(
    produce: (stream: EventStreamWriter<EventsOf<R>>) => Promise<void>,
    options?: EventStreamOptions,
  ): EventStreamAnswer;
}

export type Answer<R extends RouteDeclaration> =
  | JsonOf<R>
  | JsonAnswer<JsonOf<R>>
  | BytesAnswer
  | FileAnswer
  | EventStreamAnswer;
export type Handler<R extends RouteDeclaration> = (request: RouteRequest<R>) => Answer<R> | Promise<Answer<R>>;

export interface ImplementOptions<R extends RouteDeclaration> {
  /** Validator known before the work is done: a matching `If-None-Match` is answered 304 without calling the handler. */
  readonly etag?: (request: RouteRequest<R>) => string | undefined;
}

export interface ImplementedRoute {
  readonly route: RouteDeclaration;
  readonly handle: (request: RouteRequest) => unknown;
  readonly etag: ((request: RouteRequest) => string | undefined) | undefined;
}

export function implement<R extends RouteDeclaration>(
  route: R,
  handler: Handler<R>,
  options: ImplementOptions<R> = {},
): ImplementedRoute {
  // The server builds the request from this very declaration, so the narrower type holds.
  return {
    route,
    handle: handler as unknown as ImplementedRoute["handle"],
    etag: options.etag as unknown as ImplementedRoute["etag"],
  };
}

interface CheckedParts {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
  readonly body: unknown;
}

/** Costly parts (signal, log, address) are made only when a handler asks for them. */
export class HandlerRequest implements RouteRequest {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #log: Logger;
  #child: Logger | undefined;
  #signal: AbortSignal | undefined;
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
  readonly body: undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, log: Logger, parts: CheckedParts) {
    this.#request = request;
    this.#reply = reply;
    this.#log = log;
    this.params = parts.params;
    this.query = parts.query;
    this.headers = parts.headers;
    this.body = parts.body as undefined;
  }

  get id(): string {
    return this.#request.id;
  }
  get url(): string {
    return this.#request.raw.url ?? "/";
  }
  get rawHeaders(): IncomingHttpHeaders {
    return this.#request.headers;
  }
  get address(): string {
    return this.#request.ip;
  }
  get log(): Logger {
    this.#child ??= this.#log.child({ requestId: this.id });
    return this.#child;
  }
  get signal(): AbortSignal {
    this.#signal ??= abortOnDisconnect(this.#reply.raw);
    return this.#signal;
  }
  /** A function of its own, so that handlers may take it out of the request like the other fields. */
  get wants(): (mediaType: string) => boolean {
    const accepted = this.#request.headers.accept ?? "";
    return (mediaType) => accepted.split(",").some((item) => item.split(";", 1)[0]?.trim().toLowerCase() === mediaType);
  }
  eventStream(
    produce: (stream: EventStreamWriter<Record<never, never>>) => Promise<void>,
    options: EventStreamOptions = {},
  ): EventStreamAnswer {
    return new EventStreamAnswer(produce, options);
  }
}

/** The answer closes when it is complete or when its connection breaks; a kept-alive connection outlives many answers. */
function abortOnDisconnect(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error("The client has gone"));
  if (response.destroyed) abort();
  else {
    response.once("close", () => {
      if (!response.writableFinished) abort();
    });
  }
  return controller.signal;
}
