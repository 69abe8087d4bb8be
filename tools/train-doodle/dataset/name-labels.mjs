// usage: node name-labels.mjs BUILD: the names a caption may use for each label, with weights -> BUILD/names.json, vectors.json
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commonWords, isNoun, likeness, rank, readSense, sensesOf } from "./words.mjs";

const [build] = process.argv.slice(2);
const list = JSON.parse(readFileSync(join(build, "list.json"), "utf8"));
const synonyms = JSON.parse(readFileSync(new URL("synonyms.json", import.meta.url), "utf8"));

// WordNet's fields of meaning that fit a group of pictures (5 animals, 6 artefacts, 13 food, 15 places, 17 natural things, 18 people, 20 plants ...)
const FIELDS = {
  "animals-nature": [5, 20, 17, 13],
  "food-drink": [13, 20, 6],
  "travel-places": [6, 15, 17, 19],
  objects: [6, 10, 17, 21],
  activities: [6, 4, 13],
  icons: [6, 5, 20, 17, 13],
  "people-body": [18, 8],
  "smileys-emotion": [12, 7, 18, 5],
  symbols: [10, 6],
};
const COLOURS = new Set("red orange yellow green blue purple brown black white pink grey gray light".split(" "));
const TOO_GENERAL = /ing$|^(animal|vehicle|food|building|drink|pet|royal|flight|fighter)$/;
const WITH_KINDS = ["animals-nature", "food-drink", "travel-places", "objects"]; // "spaniel" may show a dog
const COMMON = 30_000;
const COMMON_KIND = 32_000;
const MOST_NAMES = 16;
const VECTOR_WORDS = 45_000;

const labels = [...new Set(list.map((picture) => picture.label))];
// words that are some label's own name must not become another label's synonym
const taken = new Set([
  ...labels,
  ...labels.map((label) => label.replace(/ face$/, "")),
  ...Object.values(synonyms).flat(),
]);

const names = {};
for (const label of labels)
  names[label] = nameLabel(
    label,
    list.find((picture) => picture.label === label),
  );
writeFileSync(join(build, "names.json"), JSON.stringify(names));
writeFileSync(join(build, "vectors.json"), JSON.stringify(commonWords(VECTOR_WORDS)));
console.log(
  `${labels.length} labels, ${Object.values(names).reduce((sum, name) => sum + name.alts.length, 0)} other names`,
);

function nameLabel(label, { group, kws }) {
  const face = / face$/.test(label) && group === "animals-nature";
  const base = face ? label.replace(/ face$/, "") : label;
  const words = base.split(" ");
  const nocol = words.length > 1 && COLOURS.has(words[0]) ? words.slice(1).join(" ") : null;
  const head = [base, nocol ?? "", base.replace(/s$/, "")].find(isNoun) ?? words.at(-1);
  const fields = FIELDS[group] ?? [6];
  const alts = new Map();
  const add = (name, weight) => {
    if (name === base || name === label || name.length > 22 || !/^[a-z][a-z ]+$/.test(name)) return;
    alts.set(name, Math.max(alts.get(name) ?? 0, weight));
  };
  for (const name of synonyms[label] ?? []) add(name, 1);
  if (group !== "flags" && (isNoun(base) || (nocol && isNoun(nocol)))) addFromWordNet(head, group, fields, add);
  for (const keyword of kws) {
    if (
      taken.has(keyword) ||
      keyword.includes(" ") ||
      TOO_GENERAL.test(keyword) ||
      !isNoun(keyword) ||
      rank(keyword) >= COMMON
    )
      continue;
    const like = likeness(keyword, head);
    if (like > 0.6 && fields.includes(readSense(sensesOf(keyword)[0]).field)) add(keyword, like * 0.8);
  }
  const best = [...alts].sort((a, b) => b[1] - a[1]).slice(0, MOST_NAMES);
  return {
    names: [label.replaceAll("’", "'"), ...(face ? [base] : [])],
    nocol,
    alts: best.map(([name, weight]) => [name, Math.round(weight * 100) / 100]),
  };
}

function addFromWordNet(head, group, fields, add) {
  const sense = sensesOf(head)
    .slice(0, 4)
    .map(readSense)
    .find((one) => fields.includes(one.field));
  if (!sense) return;
  for (const word of sense.words) {
    const plain =
      word.toLowerCase() === word && !taken.has(word) && word.split(" ").every((part) => rank(part) < COMMON);
    if (plain && (word.includes(" ") || sensesOf(word)[0] === sense.place || likeness(word, head) > 0.6))
      add(word, 0.8);
  }
  if (WITH_KINDS.includes(group)) addKinds(sense.narrower, head, add, 1, new Set());
}

function addKinds(places, head, add, depth, seen) {
  for (const place of places) {
    if (seen.has(place)) continue;
    seen.add(place);
    const sense = readSense(place);
    for (const word of sense.words) {
      if (word.toLowerCase() !== word || word.includes(" ") || taken.has(word) || rank(word) >= COMMON_KIND) continue;
      const like = likeness(word, head);
      if (like > 0.33 && sensesOf(word)[0] === place) add(word, 0.35 + 0.4 * like);
    }
    if (depth < 2) addKinds(sense.narrower, head, add, depth + 1, seen);
  }
}
