// Parameters arrive as text: query, path segments and headers. Each declared one gets a reader that turns the text into
// its type strictly (no "yes", no "1e3", no " 5") and explains itself when it cannot.
import type { TObject, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { describeRule, keywordsOf, showValue } from "./describe-rule.js";

export type Fail = (message: string) => Error;
export type ParameterValue = string | number | boolean;

interface Reader {
  readonly name: string;
  readonly required: boolean;
  readonly defaultValue: ParameterValue | undefined;
  read(text: string): ParameterValue;
}

const DIGITS = /^[0-9]+$/;
const DECIMAL = /^-?[0-9]+(\.[0-9]+)?$/;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

function createReader(kind: string, name: string, schema: TSchema, required: boolean, fail: Fail): Reader {
  const keywords = keywordsOf(schema);
  const check = Compile(schema);
  const convert = converterOf(keywords.type);
  const rule = describeRule(keywords, "text");
  return {
    name,
    required: required && keywords.default === undefined,
    defaultValue: keywords.default as ParameterValue | undefined,
    read(text) {
      const value = convert(text);
      if (value === undefined || !check.Check(value))
        throw fail(`${kind} '${name}' is ${showValue(text)}: it must be ${rule}`);
      return value;
    },
  };
}

function converterOf(type: string | undefined): (text: string) => ParameterValue | undefined {
  if (type === "boolean") return (text) => BOOLEANS.get(text);
  // Beyond 2^53 digits carry no more meaning: saturate, so that a declared maximum still refuses and a handler's clamp still works.
  if (type === "integer")
    return (text) => (DIGITS.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER + 1) : undefined);
  if (type === "number") return (text) => (DECIMAL.test(text) ? Number(text) : undefined);
  return (text) => text;
}

function createReaders(kind: string, schema: TObject, fail: Fail): Map<string, Reader> {
  const required = new Set(keywordsOf(schema).required ?? []);
  const readers = new Map<string, Reader>();
  for (const [name, property] of Object.entries(schema.properties as Record<string, TSchema>)) {
    readers.set(name, createReader(kind, name, property, required.has(name), fail));
  }
  return readers;
}

function finish(kind: string, readers: Map<string, Reader>, values: Record<string, ParameterValue>, fail: Fail): void {
  for (const reader of readers.values()) {
    if (values[reader.name] !== undefined) continue;
    if (reader.required) throw fail(`${kind} '${reader.name}' is missing`);
    if (reader.defaultValue !== undefined) values[reader.name] = reader.defaultValue;
  }
}

function decode(text: string, what: string, fail: Fail): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw fail(`${what} is not valid percent-encoded UTF-8: ${showValue(text)}`);
  }
}

/** Reads the text after the `?`. Unknown parameters are ignored; a known one given twice is an error. */
export function compileQuery(
  schema: TObject | undefined,
  fail: Fail,
): (search: string) => Record<string, ParameterValue> {
  if (schema === undefined) return () => ({});
  const kind = "Query parameter";
  const readers = createReaders(kind, schema, fail);
  return (search) => {
    const values: Record<string, ParameterValue> = {};
    if (search !== "") {
      for (const pair of search.split("&")) {
        const equals = pair.indexOf("=");
        const name = decode(equals === -1 ? pair : pair.slice(0, equals), "The name of a query parameter", fail);
        const reader = readers.get(name);
        if (reader === undefined) continue;
        if (values[name] !== undefined) throw fail(`${kind} '${name}' is given more than once`);
        values[name] = reader.read(decode(equals === -1 ? "" : pair.slice(equals + 1), `${kind} '${name}'`, fail));
      }
    }
    finish(kind, readers, values, fail);
    return values;
  };
}

/** Reads already separated and decoded texts: path parameters and headers. */
export function compileTexts(
  kind: "Path parameter" | "Header",
  schema: TObject,
  fail: Fail,
): (texts: Readonly<Record<string, string | string[] | undefined>>) => Record<string, ParameterValue> {
  const readers = createReaders(kind, schema, fail);
  return (texts) => {
    const values: Record<string, ParameterValue> = {};
    for (const reader of readers.values()) {
      const text = texts[kind === "Header" ? reader.name.toLowerCase() : reader.name];
      if (text !== undefined) values[reader.name] = reader.read(Array.isArray(text) ? text.join(", ") : text);
    }
    finish(kind, readers, values, fail);
    return values;
  };
}
