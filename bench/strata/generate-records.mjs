import { families } from "./package-sets.mjs";
import { SeededRandom } from "./seeded-random.mjs";
import { descriptionOpenings, descriptionWords, endings, licenses, platformLists, stems } from "./word-lists.mjs";

/** As many channel releases as there were between 2016 and 2026. */
const SNAPSHOTS = 4150;
const FIRST_YEAR = 2016;
const LAST_YEAR = 2026.9;
const MAINTAINERS = 3000;
/** What the families give as they stand, found by trying. */
const RANGES_AT_SCALE_1 = 1_000_000;
const secondsOf = (year) => Math.floor((year - 1970) * 365.2425 * 86_400);

/**
 * About `ranges` version ranges with the shape of nixpkgs' history: package sets that live and die, projects whose releases
 * are shared by their sets, names that differ from the leaf, licences that change, packages that vanish and come back.
 */
export function* generateRecords({ ranges, seed }) {
  const random = new SeededRandom(seed);
  const snapshots = makeSnapshots(random);
  const maintainers = Array.from({ length: MAINTAINERS }, () => random.pick(stems) + random.below(999));
  const scale = ranges / RANGES_AT_SCALE_1;
  for (const family of families) {
    const taken = new Set();
    const projects = Math.max(1, Math.round(family.projects * Math.min(1, scale)));
    for (let i = 0; i < projects; i++) {
      const project = makeProject(random, family, taken, maintainers, Math.max(1, scale));
      for (const set of family.sets) {
        if (set.share === undefined || random.chance(set.share))
          yield* rangesOf(random, family, set, project, snapshots);
      }
    }
  }
}

function makeSnapshots(random) {
  const start = secondsOf(FIRST_YEAR);
  const step = (secondsOf(LAST_YEAR) - start) / SNAPSHOTS;
  return Array.from({ length: SNAPSHOTS }, (_, i) => ({
    hash: random.hex(40),
    date: Math.floor(start + i * step + random.below(step)),
  }));
}

function makeProject(random, family, taken, maintainers, scale) {
  let leaf;
  do leaf = makeName(random);
  while (taken.has(leaf));
  taken.add(leaf);
  const born = random.chance(0.35) ? FIRST_YEAR : FIRST_YEAR + random.next() * (LAST_YEAR - FIRST_YEAR) * 0.95;
  const releases = Math.min(900, Math.max(1, Math.round(random.logNormal(family.releases * scale * 0.6, 1.1))));
  return {
    leaf,
    born,
    versions: makeVersions(random, releases),
    descriptions: [makeDescription(random), makeDescription(random)],
    describedAnew: random.chance(0.03),
    licenses: [random.chance(0.07) ? null : random.pickSkewed(licenses), random.pickSkewed(licenses)],
    licensedAnew: random.chance(0.08),
    homepage: random.chance(0.15)
      ? null
      : `https://${random.pick(["github.com/", "gitlab.com/", "www."])}${leaf}${random.pick([".org", "/project", ".io"])}`,
    maintainers: random.chance(0.2)
      ? []
      : Array.from({ length: 1 + random.below(3) }, () => random.pickSkewed(maintainers)),
    platforms: random.chance(0.05) ? null : random.pickSkewed(platformLists),
    sourcePath: `pkgs/${random.pick(["by-name", "development", "tools", "applications"])}/${leaf.slice(0, 2)}/${leaf}/package.nix`,
    name:
      family.nameOf === undefined && random.chance(0.1) ? `${leaf}-${random.pick(["unwrapped", "bin", "qt5"])}` : leaf,
  };
}

function makeName(random) {
  const parts = [random.pickSkewed(stems)];
  const more = 1 + random.below(3);
  for (let i = 0; i < more; i++) parts.push(random.chance(0.25) ? random.pick(endings) : random.pick(stems));
  const joint = random.pick(["-", "-", "-", "", "_"]);
  const name = parts.join(joint);
  return random.chance(0.04) ? name[0].toUpperCase() + name.slice(1) : name;
}

function makeDescription(random) {
  if (random.chance(0.12)) return null;
  const parts = [random.pick(descriptionOpenings)];
  const length = 3 + random.below(9);
  for (let i = 0; i < length; i++) {
    parts.push(random.chance(0.15) ? random.pick(stems) : random.pickSkewed(descriptionWords));
  }
  return parts.join(" ");
}

/** Release numbers that go up, in the styles that occur: semantic, short, dated, unstable. */
function makeVersions(random, count) {
  const style = random.next();
  const number = [Math.floor(random.logNormal(1, 1.2)), random.below(25), random.below(40), random.below(80)];
  const versions = [];
  let day = secondsOf(FIRST_YEAR + random.next() * 3);
  while (versions.length < count) {
    const part = random.chance(0.06) ? 0 : random.chance(0.4) ? 1 : 2;
    number[3] = random.below(300);
    number[part] += 1 + (part === 2 && random.chance(0.1) ? random.below(5) : 0);
    for (let i = part + 1; i < 3; i++) number[i] = 0;
    day += random.below(60 * 86_400);
    const dated = new Date(day * 1000).toISOString().slice(0, 10);
    if (style < 0.5) versions.push(number.slice(0, 3).join("."));
    else if (style < 0.72) versions.push(number.join("."));
    else if (style < 0.84) versions.push(`${number[0]}.${number[1] * 10 + number[2]}`);
    else if (style < 0.9) versions.push(dated.replaceAll("-", "."));
    else if (style < 0.94) versions.push(`0-unstable-${dated}`);
    else if (style < 0.97) versions.push(`${number[0]}.${number[1]}-unstable-${dated}`);
    else versions.push(`${number.slice(0, 3).join(".")}${random.pick(["-rc1", "pre1", "b2", "+git", ".post1"])}`);
  }
  return versions;
}

/** The project's releases as one set saw them: only those between the set's first and last day. */
function* rangesOf(random, family, set, project, snapshots) {
  const from = Math.max(set.from, project.born);
  const to = random.chance(0.12) ? from + (set.to - from) * random.next() : set.to;
  if (from >= to) return;
  const place = (year) =>
    Math.min(SNAPSHOTS - 1, Math.max(0, Math.floor(((year - FIRST_YEAR) / (LAST_YEAR - FIRST_YEAR)) * SNAPSHOTS)));
  const life = LAST_YEAR - project.born;
  const count = project.versions.length;
  for (let i = 0; i < count; i++) {
    const start = Math.max(from, project.born + (life * i) / count);
    const end = Math.min(to, project.born + (life * (i + 1)) / count);
    if (start >= end) continue;
    const first = place(start);
    const last = Math.max(first, place(end));
    const record = makeRecord(random, family, set, project, i);
    const middle = (first + last) >> 1;
    if (last - first > 8 && random.chance(0.005)) {
      yield within(record, snapshots[first], snapshots[middle - 2]);
      yield within(record, snapshots[middle + 2], snapshots[last]);
    } else {
      yield within(record, snapshots[first], snapshots[last]);
    }
  }
}

function makeRecord(random, family, set, project, release) {
  const late = release * 2 > project.versions.length;
  return {
    attributePath: set.prefix + project.leaf,
    name: family.nameOf === undefined ? project.name : family.nameOf(project.leaf, set),
    version: project.versions[release],
    description: project.descriptions[late && project.describedAnew ? 1 : 0],
    license: project.licenses[late && project.licensedAnew ? 1 : 0],
    homepage: project.homepage,
    maintainers: project.maintainers,
    platforms: project.platforms,
    sourcePath: project.sourcePath,
    knownVulnerabilities: random.chance(0.003) ? [`CVE-20${16 + random.below(10)}-${1000 + random.below(9000)}`] : null,
  };
}

/** Every field by name: copying with a spread takes three times as long, which counts for millions. */
function within(record, first, last) {
  return {
    attributePath: record.attributePath,
    name: record.name,
    version: record.version,
    description: record.description,
    license: record.license,
    homepage: record.homepage,
    maintainers: record.maintainers,
    platforms: record.platforms,
    sourcePath: record.sourcePath,
    knownVulnerabilities: record.knownVulnerabilities,
    firstCommitHash: first.hash,
    firstCommitDate: first.date,
    lastCommitHash: last.hash,
    lastCommitDate: last.date,
  };
}
