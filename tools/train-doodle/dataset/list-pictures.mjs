// usage: node list-pictures.mjs BUILD [OPENCLIPART_SVG_FOLDER]: chooses the pictures to draw, with name, keywords and group -> BUILD/list.json
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { emojiOfCode, emojiOfSlug, emojiOfSquashed, isPicturable, stripCode } from "./emoji.mjs";
import { isWord, rank } from "./words.mjs";

const require = createRequire(import.meta.url);
const [build, clipArt] = process.argv.slice(2);
const pictures = new Map();

const SKIPPED_ICONS = new RegExp(
  [
    "skin-tone|tone[1-5]|(^|-)(dark|medium-dark|medium|medium-light|light)$|-button$|blood-type|regionalindicator|copyright|registered",
    "trade-mark|sign-|heavy-|white-flag$|black-flag$|^flag-for-flag|^empty-page$",
    "^(keycap|regional|digit|letter|input|squared|cjk|japanese-|clock|.*-oclock|.*-thirty)",
  ].join("|"),
);
const INTERFACE_ICONS =
  /arrow|plus|minus|sort|align|database|invite|business|contact|calendar|process|request|approval|disclaimer|generic|graph|chart|icon|list|menu|priority|insert|template|data|filter|phone|call|sms|upload|download|expired|cancel|checkmark|undo|redo|next|previous|left|right|up|down|google|linux|android|about|accept|decision|deployment|diploma|document|faq|feedback|file|folder|good|high|inspection|internal|ipad|iphone|like|link|make|manager|medium|multiple|negative|neutral|no|numerical|ok|org|overtime|package|parallel|paid|planner|podium|portrait|positive|print|questions|rating|refresh|reading|rules|rotate|salesperson|scatter|search|self|serial|service|settings|share|shipped|sound|statistics|support|survey|switch|synchronize|tab|timeline|todo|tree|unlock|view|vip|voice|webcam/;
const VIOLENT =
  /blood|gore|dead|death|corpse|kill|decapit|guillotine|impal|stab|gun|pistol|rifle|sex|breast|nude|skull|shot|bullet|noose|hang|torture|swastika|nazi|severed|wound|pierced|amput/;
const SILHOUETTE_RANK = 12_000; // rarer words name game terms nobody types
const CLIP_ART_RANK = 25_000;
const CLIP_ART_BYTES = 400_000;
const CLIP_ART_GROUPS = {
  animals: "animals-nature",
  plants: "animals-nature",
  food: "food-drink",
  buildings: "travel-places",
  transportation: "travel-places",
  geography: "travel-places",
  recreation: "activities",
  tools: "objects",
  containers: "objects",
  electronics: "objects",
  education: "objects",
  office: "objects",
};
const CLIP_ART_SKIPPED =
  /cards|roadsign|aiga|weapons|flags|maps?\/|chess|religio|kexi|logo|dead|skull|nazi|naked|nude|gun|breast|cigar|beer_girl|sign|symbol|geography\/(?!.*(mountain|island|globe|earth))/i;

const icons = (set) => require(`@iconify-json/${set}/icons.json`).icons;

function add(picture) {
  const key = `${picture.set}|${picture.key}`;
  if (!pictures.has(key)) pictures.set(key, picture);
}

function namesByCode(set) {
  const names = new Map();
  for (const [code, name] of Object.entries(require(`@iconify-json/${set}/chars.json`))) {
    const emoji = emojiOfCode(code);
    if (emoji && !names.has(name)) names.set(name, emoji);
  }
  return names;
}

const noto = namesByCode("noto");
const twemoji = namesByCode("twemoji");
const fluent = namesByCode("fluent-emoji-flat");
const anyName = (name) => emojiOfSlug(name) ?? noto.get(name) ?? twemoji.get(name) ?? fluent.get(name);
const without =
  (...groups) =>
  (emoji) =>
    isPicturable(emoji) && !groups.includes(emoji.group);

function addEmojiSet(set, style, emojiOf, wanted) {
  for (const key of Object.keys(icons(set))) {
    const emoji = SKIPPED_ICONS.test(key) ? undefined : emojiOf(key);
    if (emoji && wanted(emoji)) add({ set, style, key, src: "iconify", ...emoji });
  }
}

addEmojiSet("noto", "noto", (key) => noto.get(key) ?? emojiOfSlug(key), without("flags"));
addEmojiSet("noto-v1", "notov1", anyName, without("flags", "symbols", "people-body"));
addEmojiSet("fluent-emoji", "fluent", (key) => fluent.get(key) ?? emojiOfSlug(key), without("flags"));
addEmojiSet("fluent-emoji-flat", "flat", (key) => fluent.get(key) ?? emojiOfSlug(key), without("flags"));
addEmojiSet("twemoji", "twemoji", (key) => twemoji.get(key) ?? emojiOfSlug(key), without());
addEmojiSet("emojione", "emojione", anyName, without("flags", "symbols"));
addEmojiSet(
  "fxemoji",
  "fxemoji",
  (key) => emojiOfSquashed(key) ?? emojiOfSquashed(`${key}face`),
  without("flags", "symbols"),
);
addEmojiSet(
  "streamline-emojis",
  "outline",
  (key) => anyName(key) ?? anyName(key.replace(/-\d$/, "")),
  without("symbols"),
);

/** Sets without code points: the icon's own name, if it is made of English words. */
function addNamedSet(set, style, nameOf, wanted) {
  for (const key of Object.keys(icons(set))) {
    const name = nameOf(key);
    if (!name || !wanted(name.split(" "))) continue;
    const emoji = style === "silhouette" ? undefined : emojiOfSlug(name.replaceAll(" ", "-"));
    add({
      set,
      style,
      key,
      src: "iconify",
      label: name,
      kws: emoji?.kws ?? [],
      group: emoji?.group ?? "icons",
      sub: emoji?.sub ?? "",
    });
  }
}

const fewWords = (words) => words.length <= 4 && words.every(isWord);
addNamedSet(
  "streamline-kameleon-color",
  "badge",
  (key) => !key.endsWith("-duo") && key.replace(/-\d+$/, "").replaceAll("-", " "),
  fewWords,
);
addNamedSet("flat-color-icons", "flatcolor", (key) => !INTERFACE_ICONS.test(key) && key.replaceAll("-", " "), fewWords);
addNamedSet(
  "game-icons",
  "silhouette",
  (key) => !VIOLENT.test(key) && key.replaceAll("-", " "),
  (words) =>
    words.length <= 2 && words.every((word) => word.length > 2 && isWord(word) && rank(word) < SILHOUETTE_RANK),
);

const threeD = join(dirname(require.resolve("@lobehub/fluent-emoji-3d/package.json")), "assets");
for (const file of readdirSync(threeD)) {
  const key = stripCode(file.replace(".webp", ""));
  const emoji = /1f3f[b-f]/.test(key) ? undefined : emojiOfCode(key);
  if (without("flags")(emoji))
    add({ set: "fluent-emoji-3d", style: "3d", key, src: "file", file: join(threeD, file), ...emoji });
}

function filesUnder(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name));
}

/** Open Clip Art Library 0.18 (public domain; Debian's openclipart-svg, unpacked): titles that agree with the file's name. */
function addClipArt(root) {
  const noise = /\b(clipart|clip art|icon|icons|simple|svg|bw|by|nicu|buculei|etiquette|silhouette|contour)\b/g;
  for (const [category, group] of Object.entries(CLIP_ART_GROUPS)) {
    for (const file of filesUnder(join(root, category))) {
      if (!file.endsWith(".svg") || CLIP_ART_SKIPPED.test(file) || statSync(file).size > CLIP_ART_BYTES) continue;
      const svg = readFileSync(file, "utf8");
      const title = svg.match(/<dc:title>([^<]*)</)?.[1]?.toLowerCase() ?? "";
      const label = title
        .replace(/\(.*?\)/g, "")
        .replace(/[_\-.,\d]+/g, " ")
        .replace(noise, " ")
        .replace(/\s+/g, " ")
        .trim();
      const words = label.split(" ").filter(Boolean);
      if (
        !words.length ||
        words.length > 3 ||
        !words.every((word) => word.length > 2 && isWord(word) && rank(word) < CLIP_ART_RANK)
      )
        continue;
      if (!words.some((word) => basename(file).toLowerCase().includes(word))) continue;
      const kws = [...svg.matchAll(/<rdf:li>([^<]*)</g)]
        .map((match) => match[1].toLowerCase().trim())
        .filter((word) => /^[a-z ]{3,16}$/.test(word) && isWord(word) && !/hash|unsorted|clip|remix/.test(word))
        .slice(0, 6);
      add({
        set: "openclipart",
        style: "clipart",
        key: relative(root, file),
        src: "svgfile",
        file,
        label,
        kws,
        group,
        sub: category,
      });
    }
  }
}
if (clipArt) addClipArt(clipArt);

const list = [...pictures.values()];
writeFileSync(join(build, "list.json"), JSON.stringify(list));
console.log(
  `${list.length} pictures`,
  Object.fromEntries(
    [...new Set(list.map((p) => p.set))].map((set) => [set, list.filter((p) => p.set === set).length]),
  ),
);
