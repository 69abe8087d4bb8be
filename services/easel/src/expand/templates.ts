/** How a prompt is expanded for each family of image models: data, replaced field by field under `expand.templates` in the configuration. */
import { ExpandError } from "./expand-error.js";

/** The ways of writing our own model was trained in; see tools/train-expander. */
const MANNERS = ["doodle", "tags", "prose"] as const;
export type Manner = (typeof MANNERS)[number];

export interface Template {
  readonly manner: Manner;
  /** told to models that follow instructions; `{max_words}` is replaced */
  readonly instruction: string;
  /** an expansion is cut to this many words, and a prompt that long is refused */
  readonly maxWords: number;
  /** words an expansion must add to the prompt's own */
  readonly minAddedWords: number;
  readonly temperature: number;
  /** `doodle`: only words of doodle's own captions may be added */
  readonly world: "doodle" | "any";
}

const RULES =
  "Keep every word of the user's subject, in the user's order, and change nothing the user decided. " +
  "Answer with the new prompt alone, on one line, without quotes, lists, explanations or a preface. At most {max_words} words.";

const tags: Template = {
  manner: "tags",
  instruction:
    "You rewrite short prompts for a text-to-image model that reads comma-separated phrases. Begin with the subject, then add phrases for " +
    `setting, light, composition, colours and medium where the user left them open. ${RULES}`,
  // CLIP reads 75 tokens; an English word takes about 1.3 of them.
  maxWords: 56,
  minAddedWords: 4,
  temperature: 0.8,
  world: "any",
};

const prose: Template = {
  manner: "prose",
  instruction:
    "You rewrite short prompts for a text-to-image model that reads natural language. Describe the picture in two to four plain sentences: " +
    `subject first, then setting, light, composition, colours and style where the user left them open. ${RULES}`,
  // T5 and language-model encoders read hundreds of tokens; pictures stop getting better long before.
  maxWords: 120,
  minAddedWords: 6,
  temperature: 0.8,
  world: "any",
};

/** Doodle draws one or two things on one background in one style, so the instruction is as narrow as its captions. */
const doodle: Template = {
  manner: "doodle",
  instruction:
    "You rewrite short prompts for a small model that draws stickers, emoji scenes and clip art. Write one caption: the subject with its colour, " +
    "then one simple setting (on green grass, in the snow, under a starry sky, on a wooden table, on a blue background ...), then a comma and one style " +
    `(3d render, flat icon, cartoon style, line art style, clip art, gradient illustration). Nothing else. ${RULES}`,
  maxWords: 40,
  minAddedWords: 2,
  temperature: 0.8,
  world: "doodle",
};

const DEFAULT_FAMILY = "default";

/** Family of the image model → template; families not named here take `default`. */
const BUILT_IN_TEMPLATES: Readonly<Record<string, Template>> = {
  doodle,
  sd15: tags,
  sd21: tags,
  lcm: tags,
  "sd-turbo": tags,
  sdxl: { ...tags, maxWords: 70 },
  "sdxl-turbo": { ...tags, maxWords: 70 },
  sd3: prose,
  flux: prose,
  "qwen-image": prose,
  [DEFAULT_FAMILY]: tags,
};

export type Templates = Readonly<Record<string, Template>>;

export function templateFor(templates: Templates, family: string): Template {
  return templates[family] ?? templates[DEFAULT_FAMILY] ?? tags;
}

type Reader = (value: unknown) => unknown;
const wholeNumber =
  (min: number, max: number): Reader =>
  (value) => {
    const n = typeof value === "bigint" ? Number(value) : value;
    if (typeof n !== "number" || !Number.isInteger(n) || n < min || n > max)
      throw new Error(`must be a whole number from ${min} to ${max}`);
    return n;
  };
const oneOf =
  (choices: readonly string[]): Reader =>
  (value) => {
    if (typeof value !== "string" || !choices.includes(value)) throw new Error(`must be one of ${choices.join(", ")}`);
    return value;
  };

/** Key in the configuration → field of the template and how it is read. */
const FIELDS: Readonly<Record<string, readonly [keyof Template, Reader]>> = {
  manner: ["manner", oneOf(MANNERS)],
  instruction: [
    "instruction",
    (value) => {
      if (typeof value !== "string" || value.trim() === "") throw new Error("must be a text that is not blank");
      return value;
    },
  ],
  max_words: ["maxWords", wholeNumber(5, 400)],
  min_added_words: ["minAddedWords", wholeNumber(1, 100)],
  temperature: [
    "temperature",
    (value) => {
      const n = Number(value);
      if (!(n >= 0 && n <= 2)) throw new Error("must be a number from 0 to 2");
      return n;
    },
  ],
  world: ["world", oneOf(["doodle", "any"])],
};

/** The built-in templates with the configuration's table `expand.templates` laid over them. */
export function readTemplates(overrides: unknown): Templates {
  if (overrides === undefined || overrides === null) return BUILT_IN_TEMPLATES;
  if (typeof overrides !== "object") throw broken("expand.templates", overrides, "must be a table");
  const merged: Record<string, Template> = { ...BUILT_IN_TEMPLATES };
  for (const [family, table] of Object.entries(overrides)) {
    if (typeof table !== "object" || table === null)
      throw broken(`expand.templates.${family}`, table, "must be a table");
    merged[family] = { ...templateFor(merged, family), ...readFields(family, table) };
  }
  return merged;
}

function readFields(family: string, table: object): Partial<Template> {
  const fields: Partial<Record<keyof Template, unknown>> = {};
  for (const [key, value] of Object.entries(table)) {
    const place = `expand.templates.${family}.${key}`;
    const field = FIELDS[key];
    if (!field) throw broken(place, value, `is not known; a template has ${Object.keys(FIELDS).join(", ")}`);
    try {
      fields[field[0]] = field[1](value);
    } catch (error) {
      throw broken(place, value, (error as Error).message);
    }
  }
  return fields as Partial<Template>;
}

const broken = (place: string, value: unknown, rule: string) =>
  new ExpandError("VALIDATION_ERROR", `'${place}' in the configuration ${rule} (given: ${JSON.stringify(value)})`);
