// Checks a parsed JSON body against its declaration. Nothing is coerced; a field nobody knows is an error that names the
// nearest known one, because a silently ignored field looks like a feature that does not work.
import { nearNames } from "@kit/near-names";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { describeRule, keywordsOf, type SchemaKeywords, showValue } from "./describe-rule.js";
import type { Fail } from "./read-parameters.js";

interface ValidationError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
}

export function compileBody(schema: TSchema, fail: Fail): (value: unknown) => unknown {
  const closed = closeObjects(keywordsOf(schema));
  const validator = Compile(closed as TSchema);
  const defaults = defaultsOf(closed);
  return (value) => {
    const filled = defaults !== undefined && isObject(value) ? { ...defaults, ...value } : value;
    if (validator.Check(filled)) return filled;
    throw fail(explain(validator.Errors(filled) as ValidationError[], closed, filled));
  };
}

/** Objects with declared properties take no others, unless the declaration says so itself. */
function closeObjects(schema: SchemaKeywords): SchemaKeywords {
  const closed: Record<string, unknown> = { ...schema };
  if (schema.properties !== undefined) {
    closed["properties"] = Object.fromEntries(
      Object.entries(schema.properties).map(([name, inner]) => [name, closeObjects(inner)]),
    );
    closed["additionalProperties"] = schema.additionalProperties ?? false;
  }
  if (schema.items !== undefined) closed["items"] = closeObjects(schema.items);
  if (schema.anyOf !== undefined) closed["anyOf"] = schema.anyOf.map(closeObjects);
  return closed;
}

function defaultsOf(schema: SchemaKeywords): Record<string, unknown> | undefined {
  const entries = Object.entries(schema.properties ?? {}).filter(([, inner]) => inner.default !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries.map(([name, inner]) => [name, inner.default]));
}

function explain(errors: readonly ValidationError[], schema: SchemaKeywords, value: unknown): string {
  const outside = errors.filter((error) => !error.schemaPath.includes("/anyOf/") && error.keyword !== "boolean");
  const unknown = outside.find((error) => error.keyword === "additionalProperties");
  if (unknown !== undefined) return explainUnknownField(unknown, schema);
  const missing = outside.find((error) => error.keyword === "required");
  if (missing !== undefined) return explainMissingField(missing, schema);
  const first = outside[0] ?? errors[0];
  if (first === undefined) return "The body is not valid";
  const rule = describeRule(schemaAt(schema, first.schemaPath), "body");
  const found = showValue(valueAt(value, first.instancePath));
  return first.instancePath === ""
    ? `The body is ${found}: it must be ${rule}`
    : `Field ${fieldName(first.instancePath)} is ${found}: it must be ${rule}`;
}

function explainUnknownField(error: ValidationError, schema: SchemaKeywords): string {
  const { additionalProperties = [] } = error.params as { additionalProperties?: readonly string[] };
  const given = additionalProperties[0] ?? "";
  const known = Object.keys(schemaAt(schema, error.schemaPath).properties ?? {});
  const [near] = nearNames(given, known, 1);
  const remedy = near === undefined ? `Known fields: ${known.join(", ")}` : `Did you mean '${near}'?`;
  return `Field ${fieldName(`${error.instancePath}/${given}`)} is not known. ${remedy}`;
}

function explainMissingField(error: ValidationError, schema: SchemaKeywords): string {
  const { requiredProperties = [] } = error.params as { requiredProperties?: readonly string[] };
  const name = requiredProperties[0] ?? "";
  const rule = schemaAt(schema, error.schemaPath).properties?.[name];
  const must = rule === undefined ? "" : `: it must be ${describeRule(rule, "body")}`;
  return `Field ${fieldName(`${error.instancePath}/${name}`)} is missing${must}`;
}

function fieldName(pointer: string): string {
  return showValue(pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~"));
}

function steps(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => decodeURIComponent(step.replaceAll("~1", "/").replaceAll("~0", "~")));
}

function schemaAt(root: SchemaKeywords, schemaPath: string): SchemaKeywords {
  let here: unknown = root;
  for (const step of steps(schemaPath))
    here = isObject(here) || Array.isArray(here) ? (here as Record<string, unknown>)[step] : undefined;
  return isObject(here) ? (here as SchemaKeywords) : {};
}

function valueAt(root: unknown, instancePath: string): unknown {
  let here: unknown = root;
  for (const step of instancePath.split("/").slice(1))
    here = isObject(here) || Array.isArray(here) ? (here as Record<string, unknown>)[step] : undefined;
  return here;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
