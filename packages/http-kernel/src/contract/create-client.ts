// A typed client from the same declarations. It needs only `fetch`, so commands, pages and tests share it.
import type { TSchema } from "typebox";
import {
  type BodyOf,
  contentTypesOf,
  type HeadersOf,
  type JsonOf,
  type ParamsOf,
  type QueryOf,
  type RouteDeclaration,
  type RouteTable,
} from "./declare-route.js";
import { readEvents } from "./read-events.js";

export interface ClientOptions {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly fetch?: typeof fetch;
  /** Sent as `X-Request-ID` with each request. */
  readonly requestId?: (() => string) | undefined;
}

/** The server answered with an error. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | undefined,
    readonly headers: Headers = new Headers(),
  ) {
    super(message);
  }
}

/** No answer at all: nobody listens there, the name is unknown, the connection broke. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
  constructor(
    readonly baseUrl: string,
    cause: unknown,
  ) {
    super(`No server answers at ${baseUrl}: ${reasonOf(cause)}`, { cause });
  }
}

/** An answer that is not JSON. */
export interface BytesResult {
  readonly status: number;
  readonly headers: Headers;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  text(): string;
}

type Optional<Key extends string, Value> =
  Record<never, never> extends Value ? { readonly [K in Key]?: Value } : { readonly [K in Key]: Value };

export type CallInput<R extends RouteDeclaration> = Optional<"params", ParamsOf<R>> & {
  readonly query?: Partial<QueryOf<R>>;
  readonly headers?: Partial<HeadersOf<R>> & Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
} & (R["body"] extends TSchema ? { readonly body: BodyOf<R> } : { readonly body?: undefined });

type Input<R extends RouteDeclaration> =
  Record<never, never> extends CallInput<R> ? [input?: CallInput<R>] : [input: CallInput<R>];

export type CallResult<R extends RouteDeclaration> = [JsonOf<R>] extends [never] ? BytesResult : JsonOf<R>;

/** One event of a route's stream; an `error` event is thrown as ApiError instead. */
export type EventOf<R extends RouteDeclaration> =
  R["events"] extends Readonly<Record<string, TSchema>>
    ? {
        [Name in keyof R["events"] & string]: {
          readonly event: Name;
          readonly data: EventData<R["events"][Name]>;
          readonly id: string | undefined;
        };
      }[keyof R["events"] & string]
    : never;
type EventData<S> = S extends TSchema ? import("typebox").Static<S> : never;

export interface ClientCall<R extends RouteDeclaration> {
  (...input: Input<R>): Promise<CallResult<R>>;
  /** The answer as it came, once it is known not to be an error. */
  response(...input: Input<R>): Promise<Response>;
  /** The answer's events as they come. Leaving the loop closes the connection. */
  events(...input: Input<R>): AsyncGenerator<EventOf<R>, void, undefined>;
}

export type Client<Routes extends RouteTable> = { readonly [Name in keyof Routes]: ClientCall<Routes[Name]> };

export function createClient<const Routes extends RouteTable>(routes: Routes, options: ClientOptions): Client<Routes> {
  const calls = Object.entries(routes).map(([name, route]) => [name, createCall(route, options)]);
  return Object.fromEntries(calls) as Client<Routes>;
}

interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

function createCall(route: RouteDeclaration, options: ClientOptions): ClientCall<RouteDeclaration> {
  const isJson = Object.entries(route.responses).some(
    ([status, response]) => status.startsWith("2") && contentTypesOf(response).includes("application/json"),
  );
  const call = async (input: AnyInput = {}): Promise<unknown> => {
    const response = await send(route, input, options);
    return isJson && (response.headers.get("content-type") ?? "").includes("json")
      ? response.json()
      : readBytes(response);
  };
  const events = async function* (input: AnyInput = {}) {
    const left = new AbortController();
    const signal = input.signal === undefined ? left.signal : AbortSignal.any([left.signal, input.signal]);
    const response = await send(
      route,
      { ...input, headers: { accept: "text/event-stream", ...input.headers }, signal },
      options,
    );
    try {
      for await (const { event, data, id } of readEvents(response)) {
        if (event === "error") throw errorOf(JSON.parse(data), response);
        yield { event, data: JSON.parse(data) as unknown, id };
      }
    } finally {
      left.abort();
    }
  };
  return Object.assign(call, {
    response: (input: AnyInput = {}) => send(route, input, options),
    events,
  }) as unknown as ClientCall<RouteDeclaration>;
}

async function send(route: RouteDeclaration, input: AnyInput, options: ClientOptions): Promise<Response> {
  const headers = new Headers(input.headers);
  if (input.body !== undefined) headers.set("content-type", "application/json");
  if (options.apiKey !== undefined) headers.set("x-api-key", options.apiKey);
  if (options.requestId !== undefined) headers.set("x-request-id", options.requestId());
  const request: RequestInit = { method: route.method, headers };
  if (input.body !== undefined) request.body = JSON.stringify(input.body);
  if (input.signal !== undefined) request.signal = input.signal;
  const fetchIt = options.fetch ?? fetch;
  const response = await fetchIt(addressOf(route, input, options.baseUrl), request).catch((error: unknown) => {
    if (input.signal?.aborted === true) throw error;
    throw new UnreachableError(options.baseUrl, error);
  });
  if (!response.ok) throw errorOf(await response.json().catch(() => undefined), response);
  return response;
}

/** The full address of a call: path parameters and query encoded. */
export function addressOf(route: RouteDeclaration, input: Pick<AnyInput, "params" | "query">, baseUrl: string): string {
  const path = route.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeSegment(String(input.params?.[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  const search = query.toString();
  return `${baseUrl.replace(/\/+$/, "")}${path}${search === "" ? "" : `?${search}`}`;
}

/** `.` and `..` as whole segments would be swallowed by URL parsers, even percent-encoded: no such name can be asked for over HTTP. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment);
}

async function readBytes(response: Response): Promise<BytesResult> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    status: response.status,
    headers: response.headers,
    contentType: response.headers.get("content-type") ?? "",
    bytes,
    text: () => new TextDecoder().decode(bytes),
  };
}

function errorOf(body: unknown, response: Response): ApiError {
  const { code, message } = (typeof body === "object" && body !== null ? body : {}) as {
    code?: unknown;
    message?: unknown;
  };
  return new ApiError(
    response.status,
    typeof code === "string" ? code : "UNKNOWN",
    typeof message === "string" ? message : `The server answered ${response.status}`,
    response.headers.get("x-request-id") ?? undefined,
    response.headers,
  );
}

/** fetch says only "fetch failed"; the reason is one or two causes below. */
function reasonOf(error: unknown): string {
  let reason = error;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  if (reason instanceof AggregateError && reason.errors.length > 0) reason = reason.errors[0];
  return reason instanceof Error ? reason.message || reason.name : String(reason);
}
