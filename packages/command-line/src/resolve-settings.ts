import type { ConfigurationFile } from "./configuration-file.js";
import { usageError } from "./exit-codes.js";
import { longFlag, type Setting, type SettingRows, type SettingValues } from "./setting-kinds.js";

export type Origin = "flag" | "environment" | "file" | "default";

export interface SettingSources {
  /** by row name, as the command line gave them: text, true/false for a switch, several texts for a repeated flag */
  readonly flags: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: ConfigurationFile | undefined;
}

export interface ResolvedSettings<R extends SettingRows> {
  readonly values: SettingValues<R>;
  readonly origins: { readonly [K in keyof R]: Origin };
}

/** Flag over environment over file over default, row by row. */
export function resolveSettings<R extends SettingRows>(rows: R, sources: SettingSources): ResolvedSettings<R> {
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const [name, setting] of Object.entries(rows)) {
    const { value, origin } = resolveOne(name, setting, sources);
    values[name] = value;
    origins[name] = origin;
  }
  return { values: values as SettingValues<R>, origins: origins as ResolvedSettings<R>["origins"] };
}

function resolveOne(
  name: string,
  setting: Setting<unknown>,
  sources: SettingSources,
): { value: unknown; origin: Origin } {
  const flag = sources.flags[name];
  if (flag !== undefined) return { value: fromFlag(setting, flag), origin: "flag" };
  const variable = setting.env === undefined ? undefined : sources.env[setting.env];
  if (variable !== undefined && (variable !== "" || setting.emptyIsValue)) {
    return { value: checked(setting.env!, setting, variable, () => setting.parse(variable)), origin: "environment" };
  }
  const { file } = sources;
  if (file && setting.key !== undefined && file.values.has(setting.key)) {
    const given = file.values.get(setting.key);
    const value = checked(`'${setting.key}' in ${file.path}`, setting, given, () => setting.fromFile(given));
    return { value, origin: "file" };
  }
  return { value: setting.default, origin: "default" };
}

function fromFlag(setting: Setting<unknown>, flag: string | boolean | readonly string[]): unknown {
  // A flag whose value is optional, `--trust-proxy [networks]`, comes as true when it stands alone.
  if (typeof flag === "boolean") return setting.kind === "switch" ? flag : setting.parse(String(flag));
  const place = longFlag(setting) ?? "argument";
  if (typeof flag === "string") return checked(place, setting, flag, () => setting.parse(flag));
  return flag.flatMap((part) => checked(place, setting, part, () => setting.parse(part)) as unknown[]);
}

function checked(place: string, setting: Setting<unknown>, given: unknown, read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    const shown = setting.secret ? "" : ` (given: ${JSON.stringify(given)})`;
    throw usageError(`${place} ${(error as Error).message}${shown}`);
  }
}
