/**
 * One row per setting: its flag, its environment variable, its key in the configuration file, its default and its doc line.
 * The constructors below make rows of one kind of value each; resolve-settings.ts turns rows into values.
 */
export interface Setting<T> {
  readonly kind: string;
  /** as commander writes it: `-p, --port <number>`; a switch has no `<...>` */
  readonly flag?: string;
  /** environment variable */
  readonly env?: string;
  /** dotted key in the configuration file */
  readonly key?: string;
  readonly doc: string;
  readonly default: T;
  /** how the default is shown where it is not a plain value, e.g. a folder that depends on the environment */
  readonly defaultText?: string;
  /** never shown in clear by `config show` */
  readonly secret?: boolean;
  /** an environment variable that is set but empty counts as given; otherwise it counts as not set */
  readonly emptyIsValue?: boolean;
  /** the flag may be given several times */
  readonly repeatable?: boolean;
  /** what to offer in shell completion */
  readonly complete?: (word: string) => Promise<readonly string[]> | readonly string[];
  /** from a flag or the environment; throws an Error whose message is the rule that was broken */
  parse(text: string): T;
  /** from the configuration file */
  fromFile(value: unknown): T;
}

interface Row<T> {
  readonly flag?: string;
  readonly env?: string;
  readonly key?: string;
  readonly doc: string;
  readonly default: T;
  readonly defaultText?: string;
  readonly secret?: boolean;
  readonly complete?: Setting<T>["complete"] & {};
}

function broken(rule: string): never {
  throw new Error(rule);
}

const fromText =
  <T>(parse: (text: string) => T) =>
  (value: unknown): T =>
    typeof value === "string" ? parse(value) : broken("must be a string");

export function text<T extends string | undefined>(
  row: Row<T> & { readonly emptyIsValue?: boolean },
): Setting<T | string> {
  const parse = (given: string): T | string => given;
  return { kind: "text", ...row, parse, fromFile: fromText(parse) };
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

function within(value: number, { min = -Infinity, max = Infinity }: Bounds, noun: string): number {
  if (value >= min && value <= max) return value;
  if (max === Infinity) return broken(`must be ${noun} of at least ${min}`);
  if (min === -Infinity) return broken(`must be ${noun} of at most ${max}`);
  return broken(`must be ${noun} between ${min} and ${max}`);
}

export function integer<T extends number | undefined>(row: Row<T> & Bounds): Setting<T | number> {
  const check = (value: number): number =>
    within(Number.isSafeInteger(value) ? value : broken("must be a whole number"), row, "a whole number");
  return {
    kind: "integer",
    ...row,
    parse: (given) => check(/^[+-]?\d+$/.test(given.trim()) ? Number(given) : Number.NaN),
    fromFile: (value) =>
      check(typeof value === "bigint" ? Number(value) : typeof value === "number" ? value : Number.NaN),
  };
}

export function number<T extends number | undefined>(row: Row<T> & Bounds): Setting<T | number> {
  const check = (value: number): number =>
    within(Number.isFinite(value) ? value : broken("must be a number"), row, "a number");
  return {
    kind: "number",
    ...row,
    parse: (given) => check(given.trim() === "" ? Number.NaN : Number(given)),
    fromFile: (value) =>
      check(typeof value === "bigint" ? Number(value) : typeof value === "number" ? value : Number.NaN),
  };
}

const SWITCH_WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  yes: true,
  on: true,
  false: false,
  "0": false,
  no: false,
  off: false,
};

/** A setting that is on or off: `--cors`, also `--no-cors` when the default is on. */
export function toggle(row: Row<boolean>): Setting<boolean> {
  return {
    kind: "switch",
    ...row,
    parse: (given) => SWITCH_WORDS[given.trim().toLowerCase()] ?? broken("must be true or false"),
    fromFile: (value) => (typeof value === "boolean" ? value : broken("must be true or false")),
  };
}

export function choice<const C extends string, const T extends C | undefined>(
  row: Row<T> & { readonly choices: readonly C[] },
): Setting<T | C> {
  const parse = (given: string): C =>
    row.choices.find((candidate) => candidate === given) ?? broken(`must be one of ${row.choices.join(", ")}`);
  return { kind: "choice", complete: () => row.choices, ...row, parse, fromFile: fromText(parse) };
}

/** Several values: comma-separated in a flag or variable, an array in the file. A repeated flag adds to the list. */
export function list(row: Row<readonly string[]>): Setting<readonly string[]> {
  return {
    kind: "list",
    repeatable: true,
    ...row,
    parse: (given) =>
      given
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
    fromFile: (value) =>
      Array.isArray(value) && value.every((part) => typeof part === "string")
        ? value
        : broken("must be an array of strings"),
  };
}

const UNIT_MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A length of time in milliseconds: `500ms`, `30s`, `5m`, `6h`, `1d`; a bare number counts seconds. */
export function duration<T extends number | undefined>(row: Row<T> & Bounds): Setting<T | number> {
  const parse = (given: string): number => {
    const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d)?$/.exec(given.trim());
    if (!match) return broken("must be a length of time such as 500ms, 30s, 5m, 6h or 1d");
    return within(Number(match[1]) * UNIT_MILLISECONDS[match[2] ?? "s"]!, row, "a length of time in milliseconds");
  };
  return {
    kind: "duration",
    ...row,
    parse,
    fromFile: (value) => parse(typeof value === "number" || typeof value === "bigint" ? `${value}s` : String(value)),
  };
}

const UNIT_BYTES: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** A size in bytes: `512M`, `6GiB`, `1.5g`; units are powers of 1024, a bare number counts bytes. */
export function byteSize<T extends number | undefined>(row: Row<T> & Bounds): Setting<T | number> {
  const parse = (given: string): number => {
    const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(given.trim());
    if (!match) return broken("must be a size such as 512M or 6G");
    return within(Math.round(Number(match[1]) * UNIT_BYTES[match[2]!.toLowerCase()]!), row, "a size in bytes");
  };
  return {
    kind: "size",
    ...row,
    parse,
    fromFile: (value) => parse(String(value)),
  };
}

export type SettingRows = Readonly<Record<string, Setting<unknown>>>;
export type SettingValues<R extends SettingRows> = {
  readonly [K in keyof R]: R[K] extends Setting<infer T> ? T : never;
};

/** `-p, --port <number>` → `--port` */
export function longFlag(setting: Setting<unknown>): string | undefined {
  return setting.flag?.match(/--[\w-]+/)?.[0];
}
