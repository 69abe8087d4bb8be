// What an emoji is called: label, keywords and group by code point and by name.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const emojis = require("emojibase-data/en/data.json");
const messages = require("emojibase-data/en/messages.json");
const keywordsOf = require("emojilib");
const annotations = require("cldr-annotations-full/annotations/en/annotations.json").annotations.annotations;
const COMPONENTS = 2; // emojibase's group of skin tones and hair

const groups = Object.fromEntries(messages.groups.map((group) => [group.order, group.key]));
const subgroups = Object.fromEntries(messages.subgroups.map((group) => [group.order, group.key]));
const byCode = new Map();
const bySlug = new Map();
const bySquashed = new Map();

export const stripCode = (code) =>
  code
    .toLowerCase()
    .replace(/-fe0f|-200d$/g, "")
    .replace(/^00/, "");
const slug = (text) =>
  text
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\u0300-\u036f’'“”"().,!:]/g, "")
    .replace(/&/g, "and")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

for (const emoji of emojis) {
  if (emoji.group === undefined || emoji.group === COMPONENTS) continue;
  const annotation = annotations[emoji.emoji] ?? annotations[emoji.emoji.replaceAll("\ufe0f", "")] ?? {};
  const extra = (keywordsOf[emoji.emoji] ?? []).map((word) => word.replaceAll("_", " "));
  const all = [...(emoji.tags ?? []), ...(annotation.default ?? []), ...extra].map((word) => word.toLowerCase());
  const entry = {
    hex: stripCode(emoji.hexcode),
    label: emoji.label.toLowerCase().replace(/[“”]/g, ""),
    kws: [...new Set(all)].filter((word) => /^[a-z][a-z \-']*$/.test(word) && word.length < 24),
    group: groups[emoji.group],
    sub: subgroups[emoji.subgroup],
  };
  byCode.set(entry.hex, entry);
  bySlug.set(slug(emoji.label), entry);
  bySquashed.set(slug(emoji.label).replaceAll("-", ""), entry);
  const [first] = keywordsOf[emoji.emoji] ?? [];
  if (first && !bySlug.has(slug(first))) bySlug.set(slug(first), entry);
  if (first && !bySquashed.has(slug(first).replaceAll("-", ""))) bySquashed.set(slug(first).replaceAll("-", ""), entry);
}

export const emojiOfCode = (code) => byCode.get(stripCode(code));
export const emojiOfSlug = (name) => bySlug.get(name);
export const emojiOfSquashed = (name) => bySquashed.get(name);

const SYMBOLS =
  /atom symbol|yin yang|star of david|wheel of dharma|peace symbol|menorah|infinity|recycling symbol|medical symbol|fleur-de-lis|trident|hollow red circle|check mark$|cross mark$|spiral|dotted six/;
const SIGNS = /prohibited|radioactive|biohazard|warning|children crossing|no entry/;

/** Things one can picture: of the signs and clock faces only a few are kept. */
export function isPicturable(entry) {
  if (!entry || entry.group === "component") return false;
  if (entry.group === "symbols") {
    if (/zodiac|geometric/.test(entry.sub)) return true;
    return /av-symbol|warning/.test(entry.sub) ? SIGNS.test(entry.label) : SYMBOLS.test(entry.label);
  }
  if (/clock$|thirty|o’clock/.test(entry.label) && entry.label !== "alarm clock" && !/mantel|timer/.test(entry.label))
    return entry.label === "three o’clock";
  return true;
}
