// A JSON schema as a phrase that completes "must be ...", for messages people can act on.
import type { TSchema } from "typebox";

/** The keywords of JSON schema this file reads; typebox types are plain JSON schema objects. */
export interface SchemaKeywords {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SchemaKeywords[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaKeywords>>;
  readonly required?: readonly string[];
  readonly items?: SchemaKeywords;
  readonly additionalProperties?: boolean | SchemaKeywords;
}

export function keywordsOf(schema: TSchema): SchemaKeywords {
  return schema as SchemaKeywords;
}

/** `from`: bodies carry JSON types, parameters carry text. */
export function describeRule(schema: SchemaKeywords, from: "body" | "text"): string {
  const choices = choicesOf(schema);
  if (choices !== undefined) return choices.length === 1 ? String(choices[0]) : `one of ${choices.join(", ")}`;
  if (schema.anyOf !== undefined) return schema.anyOf.map((option) => describeRule(option, from)).join(" or ");
  switch (schema.type) {
    case "boolean":
      return from === "text" ? "true, false, 1 or 0" : "true or false";
    case "integer":
      return `${from === "text" ? "a whole number in plain decimal digits" : "an integer"}${range(schema)}`;
    case "number":
      return `a number${range(schema)}`;
    case "string":
      return `${from === "text" ? "text" : "a string"}${length(schema, "character")}${shape(schema)}`;
    case "array":
      return `a list${count(schema.minItems, schema.maxItems, "element")}`;
    case "object":
      return "an object";
    case "null":
      return "null";
    default:
      return "a value of the documented type";
  }
}

/** The allowed values when the schema is an enumeration, written as JSON would be. */
function choicesOf(schema: SchemaKeywords): string[] | undefined {
  if (schema.const !== undefined) return [quote(schema.const)];
  if (schema.enum !== undefined) return schema.enum.map(quote);
  if (schema.anyOf?.every((option) => option.const !== undefined))
    return schema.anyOf.map((option) => quote(option.const));
  return undefined;
}

function quote(value: unknown): string {
  return typeof value === "string" ? `'${value}'` : JSON.stringify(value);
}

function range(schema: SchemaKeywords): string {
  const parts: string[] = [];
  const { minimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined) parts.push(` from ${minimum} to ${maximum}`);
  else if (minimum !== undefined) parts.push(` of at least ${minimum}`);
  else if (maximum !== undefined) parts.push(` of at most ${maximum}`);
  if (schema.exclusiveMinimum !== undefined) parts.push(` above ${schema.exclusiveMinimum}`);
  if (schema.exclusiveMaximum !== undefined) parts.push(` below ${schema.exclusiveMaximum}`);
  if (schema.multipleOf !== undefined && schema.multipleOf !== 1) parts.push(`, a multiple of ${schema.multipleOf}`);
  return parts.join("");
}

function length(schema: SchemaKeywords, unit: string): string {
  return count(schema.minLength, schema.maxLength, unit);
}

function count(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return ` of ${least} to ${most} ${unit}s`;
  if (least !== undefined) return ` of at least ${least} ${unit}${least === 1 ? "" : "s"}`;
  if (most !== undefined) return ` of at most ${most} ${unit}${most === 1 ? "" : "s"}`;
  return "";
}

function shape(schema: SchemaKeywords): string {
  if (schema.format !== undefined) return ` (${schema.format})`;
  return schema.pattern === undefined ? "" : ` matching ${schema.pattern}`;
}

/** Values are repeated to the client so that it can find them; long ones are cut. */
const LONGEST_SHOWN_VALUE = 60;

export function showValue(value: unknown): string {
  const text = typeof value === "string" ? `'${value}'` : (JSON.stringify(value) ?? String(value));
  return text.length <= LONGEST_SHOWN_VALUE ? text : `${text.slice(0, LONGEST_SHOWN_VALUE)}...`;
}
