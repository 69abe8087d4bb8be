// One declaration per route. The server, the OpenAPI document, the client and the tests all read this object.
// This folder is free of Node imports so that web pages can use the same declarations and client.
import type { Static, TObject, TSchema } from "typebox";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface ResponseDeclaration {
  readonly description: string;
  /** Media types this status may have. Without one the answer is JSON. */
  readonly contentType?: string | readonly string[];
  /** Shape of the JSON answer (or of the text, for text types). */
  readonly schema?: TSchema;
  /** Headers of this answer, name to description, for the document. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteDeclaration {
  /** Unique name: operation id in the document, label in metrics and logs. */
  readonly id: string;
  readonly method: Method;
  /** Path with parameters in braces: `/api/v1/packages/{attr}`. A parameter is one whole segment. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly headers?: TObject;
  readonly body?: TSchema;
  readonly responses: Readonly<Record<number, ResponseDeclaration>>;
  /** Codes of the service's error table that the handler itself can answer with. */
  readonly errors: readonly string[];
  /** Event name to shape of its data, for routes that can answer with an event stream. */
  readonly events?: Readonly<Record<string, TSchema>>;
  /** 200s may be kept by caches for this many seconds. */
  readonly cache?: { readonly maxAge: number };
  /** Nothing of this route may be kept by any cache. */
  readonly noStore?: boolean;
  readonly rateLimitExempt?: boolean;
  /** Answers without an API key also when the server has keys. */
  readonly keyExempt?: boolean;
  /** Largest accepted body in bytes; without it the server's default. */
  readonly bodyLimit?: number;
  /** Left out of the OpenAPI document. */
  readonly hidden?: boolean;
}

export type RouteTable = Readonly<Record<string, RouteDeclaration>>;

/** Names of the parameters inside a path: `"/a/{b}/{c}"` gives `"b" | "c"`. */
type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParams<Rest>
  : never;

export type ParamsOf<R extends RouteDeclaration> = R["params"] extends TObject
  ? Static<R["params"]>
  : { readonly [Name in PathParams<R["path"]>]: string };
export type QueryOf<R extends RouteDeclaration> = R["query"] extends TObject
  ? Static<R["query"]>
  : Record<never, never>;
export type HeadersOf<R extends RouteDeclaration> = R["headers"] extends TObject
  ? Static<R["headers"]>
  : Record<never, never>;
export type BodyOf<R extends RouteDeclaration> = R["body"] extends TSchema ? Static<R["body"]> : undefined;
export type EventsOf<R extends RouteDeclaration> =
  R["events"] extends Readonly<Record<string, TSchema>>
    ? { readonly [Name in keyof R["events"]]: Static<R["events"][Name]> }
    : Record<never, never>;

type IsJson<D extends ResponseDeclaration> = D["contentType"] extends string | readonly string[]
  ? D["contentType"] extends "application/json"
    ? true
    : false
  : true;
type JsonOfResponse<D> = D extends ResponseDeclaration
  ? IsJson<D> extends true
    ? D["schema"] extends TSchema
      ? Static<D["schema"]>
      : unknown
    : never
  : never;
/** Union of the JSON answers a route declares with a 2xx status; `never` for routes that only answer bytes or events. */
export type JsonOf<R extends RouteDeclaration> = {
  [Status in keyof R["responses"]]: `${Status & number}` extends `2${string}`
    ? JsonOfResponse<R["responses"][Status]>
    : never;
}[keyof R["responses"]];

const PARAMETER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Checks what types cannot see and gives the declaration back unchanged. */
export function declareRoute<const R extends RouteDeclaration>(route: R): R {
  const names = pathParameters(route.path);
  for (const segment of route.path.split("/")) {
    if (segment.includes("{") && !/^\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(segment)) {
      throw new Error(`Route ${route.id}: '${segment}' in '${route.path}' is not one whole parameter segment`);
    }
  }
  for (const name of Object.keys(route.params?.properties ?? {})) {
    if (!names.includes(name)) throw new Error(`Route ${route.id}: parameter '${name}' is not in '${route.path}'`);
  }
  if (route.body !== undefined && route.method === "GET") throw new Error(`Route ${route.id}: a GET has no body`);
  return route;
}

export function pathParameters(path: string): string[] {
  return [...path.matchAll(PARAMETER)].map((match) => match[1] as string);
}

export function contentTypesOf(response: ResponseDeclaration): readonly string[] {
  if (response.contentType === undefined) return ["application/json"];
  return typeof response.contentType === "string" ? [response.contentType] : response.contentType;
}
