import { nearNames } from "@kit/near-names";
import { errors } from "../contract/errors.js";
import type { KnownModel } from "./known-model.js";

/** The model a user means: a full name, or a bare one, which takes the downloaded variant and else the recommended one. */
export function resolveName(asked: string, models: readonly KnownModel[]): KnownModel {
  const wanted = asked.trim().toLowerCase();
  const [base = "", variant] = splitName(wanted);
  const family = models.filter((model) => [model.base, ...model.aliases].some((name) => name.toLowerCase() === base));
  if (variant !== undefined) {
    const exact = family.find((model) => model.variant.toLowerCase() === variant);
    if (exact) return exact;
    throw unknown(asked, family.length > 0 ? family.map((model) => model.name) : near(wanted, models));
  }
  const ranked = [...family].sort((a, b) => rank(b) - rank(a));
  if (ranked[0]) return ranked[0];
  throw unknown(asked, near(wanted, models));
}

function splitName(name: string): [string, string | undefined] {
  const colon = name.lastIndexOf(":");
  return colon < 0 ? [name, undefined] : [name.slice(0, colon), name.slice(colon + 1)];
}

const rank = (model: KnownModel) => (model.downloaded ? 2 : 0) + (model.recommended ? 1 : 0);

function near(wanted: string, models: readonly KnownModel[]): string[] {
  const names = new Set(models.flatMap((model) => [model.name, model.base, ...model.aliases]));
  return nearNames(wanted, names);
}

function unknown(asked: string, suggestions: readonly string[]) {
  const hint =
    suggestions.length > 0
      ? `Did you mean ${suggestions
          .slice(0, 5)
          .map((name) => `'${name}'`)
          .join(", ")}?`
      : "GET /api/models lists every model.";
  return errors.UNKNOWN_MODEL(`There is no model '${asked.slice(0, 100)}'. ${hint}`);
}
