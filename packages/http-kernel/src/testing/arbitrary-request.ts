// Requests made from a route's declaration: mostly what it allows, now and then what it does not.
import fc from "fast-check";
import { pathParameters, type RouteDeclaration } from "../contract/declare-route.js";
import { keywordsOf, type SchemaKeywords } from "../validation/describe-rule.js";

/** Values the declaration cannot know but the service does: names that exist, models, versions. Keyed by parameter or field. */
export type KnownValues = Readonly<Record<string, readonly unknown[]>>;

export interface GeneratedRequest {
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const LONGEST_STRING = 40;
const LARGEST_NUMBER = 1_000_000;

/** Values that satisfy the schema, as far as keywords say it. */
function arbitraryFor(schema: SchemaKeywords): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(arbitraryFor));
  switch (schema.type) {
    case "boolean":
      return fc.boolean();
    case "integer":
      return integerFor(schema);
    case "number":
      return fc.double({ min: schema.minimum ?? -LARGEST_NUMBER, max: schema.maximum ?? LARGEST_NUMBER, noNaN: true });
    case "string":
      return stringFor(schema);
    case "array":
      return fc.array(arbitraryFor(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 5),
      });
    case "object":
      return objectFor(schema);
    case "null":
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

function integerFor(schema: SchemaKeywords): fc.Arbitrary<number> {
  const step = schema.multipleOf ?? 1;
  const min = Math.ceil((schema.minimum ?? -LARGEST_NUMBER) / step);
  const max = Math.floor((schema.maximum ?? LARGEST_NUMBER) / step);
  return fc
    .integer({ min: Math.max(min, Number.MIN_SAFE_INTEGER), max: Math.min(max, 2 ** 31 - 1) })
    .map((value) => value * step);
}

function stringFor(schema: SchemaKeywords): fc.Arbitrary<string> {
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
  const minLength = schema.minLength ?? 0;
  return fc.string({
    unit: "grapheme",
    minLength,
    maxLength: Math.max(minLength, Math.min(schema.maxLength ?? LONGEST_STRING, LONGEST_STRING)),
  });
}

function objectFor(schema: SchemaKeywords, known: KnownValues = {}): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, inner]) => [name, withKnown(arbitraryFor(inner), known[name])] as const,
  );
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...(schema.required ?? [])] });
}

function withKnown(arbitrary: fc.Arbitrary<unknown>, known: readonly unknown[] | undefined): fc.Arbitrary<unknown> {
  return known === undefined || known.length === 0
    ? arbitrary
    : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary });
}

/** What people and scanners put where a plain value belongs. */
const ODD_TEXTS = [
  "",
  "-1",
  "0",
  "1e309",
  "9".repeat(30),
  "true",
  "null",
  "NaN",
  "..",
  "%",
  "\0",
  "\u{1F600}",
  "a'b\"c<d>",
  "a".repeat(300),
  "__proto__",
  "constructor",
];

const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...ODD_TEXTS),
  fc.string({ unit: "binary", maxLength: 20 }),
);

function segmentFor(schema: SchemaKeywords, known: readonly unknown[] | undefined): fc.Arbitrary<string> {
  const value = withKnown(arbitraryFor(schema), known).map(String);
  return fc
    .oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: oddText })
    .map((text) => encodeURIComponent(text.toWellFormed()))
    .map((segment) => (segment === "." || segment === ".." ? `x${segment}` : segment));
}

function queryFor(route: RouteDeclaration, known: KnownValues): fc.Arbitrary<string> {
  if (route.query === undefined) return fc.constant("");
  const schema = keywordsOf(route.query);
  const names = Object.keys(schema.properties ?? {});
  const odd = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), oddText), oddText), { maxLength: 2 });
  return fc
    .tuple(objectFor(schema, known), fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: odd }))
    .map(([values, extra]) => {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(values)) search.append(name, String(value));
      for (const [name, value] of extra) search.append(name.toWellFormed(), value.toWellFormed());
      return search.size === 0 ? "" : `?${search}`;
    });
}

function bodyFor(route: RouteDeclaration, known: KnownValues): fc.Arbitrary<string | undefined> {
  if (route.body === undefined) return fc.constant(undefined);
  const schema = keywordsOf(route.body);
  const proper = schema.type === "object" ? objectFor(schema, known) : arbitraryFor(schema);
  const spoiled = fc
    .tuple(
      proper,
      fc.constantFrom(...Object.keys(schema.properties ?? { x: 0 }), "unknown_field"),
      fc.jsonValue({ maxDepth: 1 }),
    )
    .map(([value, name, odd]) => ({
      ...(value as object),
      [name]: odd,
    }));
  return fc.oneof(
    { weight: 4, arbitrary: proper.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: spoiled.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.oneof(fc.json(), oddText) },
  );
}

export function arbitraryRequest(route: RouteDeclaration, known: KnownValues = {}): fc.Arbitrary<GeneratedRequest> {
  const declared = route.params === undefined ? {} : (keywordsOf(route.params).properties ?? {});
  const segments = pathParameters(route.path).map((name) =>
    segmentFor(declared[name] ?? { type: "string", minLength: 1 }, known[name]),
  );
  return fc
    .tuple(fc.tuple(...segments), queryFor(route, known), bodyFor(route, known))
    .map(([values, search, body]) => {
      let next = 0;
      const path = route.path.replaceAll(/\{[^}]+\}/g, () => values[next++] as string);
      return { path: path + search, body, headers: body === undefined ? {} : { "content-type": "application/json" } };
    });
}
