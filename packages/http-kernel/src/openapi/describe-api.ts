// The OpenAPI 3.1 document, from the same declarations the server runs on. JSON schema is OpenAPI 3.1's schema language, so
// the declarations' schemas go in as they are; those with a `title` become named components.
import type { TObject, TSchema } from "typebox";
import {
  contentTypesOf,
  pathParameters,
  type ResponseDeclaration,
  type RouteDeclaration,
} from "../contract/declare-route.js";
import type { ErrorTable } from "../contract/define-errors.js";
import { keywordsOf } from "../validation/describe-rule.js";
import { SchemaComponents } from "./schema-components.js";

export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  readonly errors: ErrorTable;
  readonly routes: readonly RouteDeclaration[];
  readonly hasKeys?: boolean;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: Readonly<Record<string, unknown>>;
}

/** Codes that any route can answer with, whatever its handler does. */
const EVERYWHERE = ["BAD_REQUEST", "URI_TOO_LONG", "RATE_LIMITED", "INTERNAL_ERROR"];
const WITH_BODY = ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"];

export function describeApi(api: ApiDescription): OpenApiDocument {
  const components = new SchemaComponents();
  const paths: Record<string, Record<string, unknown>> = {};
  const shown = api.routes.filter((route) => route.hidden !== true);
  for (const route of shown) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = describeRoute(route, api, components);
    paths[route.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: api.title,
      version: api.version,
      ...(api.description === undefined ? {} : { description: api.description }),
    },
    tags: [...new Set(shown.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { ...components.schemas, Error: ERROR_SCHEMA },
      ...(api.hasKeys === true
        ? { securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-Api-Key" } } }
        : {}),
    },
  };
}

const ERROR_SCHEMA = {
  type: "object",
  required: ["code", "message"],
  properties: {
    code: { type: "string", description: "Stable name of the kind of failure" },
    message: { type: "string", description: "What is wrong and what to do, for people" },
  },
};

function describeRoute(route: RouteDeclaration, api: ApiDescription, components: SchemaComponents): unknown {
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    parameters: describeParameters(route, components),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: components.place(route.body) } } } }),
    responses: { ...describeAnswers(route, components), ...describeErrors(route, api.errors) },
    ...(api.hasKeys === true && route.keyExempt !== true ? { security: [{ apiKey: [] }] } : {}),
  };
}

function describeParameters(route: RouteDeclaration, components: SchemaComponents): unknown[] {
  const declared = (route.params?.properties ?? {}) as Record<string, TSchema>;
  const inPath = pathParameters(route.path).map((name) => ({
    name,
    in: "path",
    required: true,
    ...describeValue(declared[name] ?? ({ type: "string" } as TSchema), components),
  }));
  return [
    ...inPath,
    ...describeObject("query", route.query, components),
    ...describeObject("header", route.headers, components),
  ];
}

function describeObject(
  place: "query" | "header",
  schema: TObject | undefined,
  components: SchemaComponents,
): unknown[] {
  if (schema === undefined) return [];
  const required = new Set(keywordsOf(schema).required ?? []);
  return Object.entries(schema.properties as Record<string, TSchema>).map(([name, value]) => ({
    name,
    in: place,
    required: required.has(name) && keywordsOf(value).default === undefined,
    ...describeValue(value, components),
  }));
}

function describeValue(schema: TSchema, components: SchemaComponents): { schema: unknown; description?: string } {
  const { description } = schema as { description?: string };
  return { ...(description === undefined ? {} : { description }), schema: components.place(schema) };
}

function describeAnswers(route: RouteDeclaration, components: SchemaComponents): Record<string, unknown> {
  const answers = Object.entries(route.responses).map(([status, response]) => [
    status,
    describeAnswer(route, response, components),
  ]);
  return Object.fromEntries(answers);
}

function describeAnswer(route: RouteDeclaration, response: ResponseDeclaration, components: SchemaComponents): unknown {
  const content: Record<string, unknown> = {};
  for (const type of contentTypesOf(response)) {
    if (type === "text/event-stream" && route.events !== undefined)
      content[type] = describeEvents(route.events, components);
    else content[type] = response.schema === undefined ? {} : { schema: components.place(response.schema) };
  }
  const headers = Object.entries(response.headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: "string" } },
  ]);
  return {
    description: response.description,
    headers: {
      "X-Request-ID": { description: "Correlation id, the request's own or a new one", schema: { type: "string" } },
      ...Object.fromEntries(headers),
    },
    content,
  };
}

/** OpenAPI 3.1 has no word for event streams; the data of each event is listed as an alternative, with its name as title. */
function describeEvents(events: Readonly<Record<string, TSchema>>, components: SchemaComponents): unknown {
  const shapes = Object.entries(events).map(([name, schema]) => ({
    title: `event: ${name}`,
    allOf: [components.place(schema)],
  }));
  return {
    schema: {
      description: "Each event has an `event:` line with its name and a `data:` line with JSON of the shape below.",
      oneOf: shapes,
    },
  };
}

function describeErrors(route: RouteDeclaration, errors: ErrorTable): Record<string, unknown> {
  const byStatus = new Map<number, string[]>();
  const checked = [errors.$invalid().code, ...(route.body === undefined ? [] : [errors.$malformedBody().code])];
  for (const code of new Set([
    ...checked,
    ...EVERYWHERE,
    ...(route.body === undefined ? [] : WITH_BODY),
    ...route.errors,
  ])) {
    const row = errors.$rows[code];
    if (row === undefined) throw new Error(`Route ${route.id}: '${code}' is not in the error table`);
    byStatus.set(row.status, [...(byStatus.get(row.status) ?? []), code]);
  }
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      { description: codes.map((code) => `\`${code}\``).join(", "), content },
    ]),
  );
}
