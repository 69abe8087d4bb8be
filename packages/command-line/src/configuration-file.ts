import { readFileSync } from "node:fs";
import { nearNames } from "@kit/near-names";
import { parse, TomlError } from "smol-toml";
import { usageError } from "./exit-codes.js";

export interface ConfigurationFile {
  readonly path: string;
  /** dotted key → value as TOML gave it */
  readonly values: ReadonlyMap<string, unknown>;
}

/**
 * Reads a TOML file. A file that was named by hand must exist; the default one may be missing.
 * Tables under a key in `openTables` are kept whole (free-form data such as templates).
 */
export function readConfigurationFile(
  path: string,
  options: { readonly required: boolean; readonly openTables?: readonly string[] },
): ConfigurationFile | undefined {
  let source: string;
  try {
    source = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" && !options.required) return undefined;
    throw usageError(
      `cannot read the configuration file ${path}: ${code === "ENOENT" ? "no such file" : (error as Error).message}`,
    );
  }
  try {
    return { path, values: flatten(parse(source), new Set(options.openTables)) };
  } catch (error) {
    if (error instanceof TomlError)
      throw usageError(`${path}:${error.line}:${error.column}: ${firstLine(error.message)}`);
    throw error;
  }
}

const firstLine = (message: string): string => message.split("\n", 1)[0]!;

function flatten(table: object, open: ReadonlySet<string>): Map<string, unknown> {
  const values = new Map<string, unknown>();
  const walk = (node: object, prefix: string): void => {
    for (const [name, value] of Object.entries(node)) {
      const key = prefix === "" ? name : `${prefix}.${name}`;
      const isTable = typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
      if (isTable && !open.has(key)) walk(value, key);
      else values.set(key, value);
    }
  };
  walk(table, "");
  return values;
}

/** A key that no setting has is a mistake of spelling far more often than a wish: say so instead of ignoring it. */
export function refuseUnknownKeys(file: ConfigurationFile, known: ReadonlySet<string>): void {
  for (const key of file.values.keys()) {
    if (known.has(key)) continue;
    const near = nearNames(key, known, 1)[0];
    throw usageError(
      `${file.path}: unknown key '${key}'`,
      near ? `Did you mean '${near}'?` : "Run 'config show' for the keys there are.",
    );
  }
}
