/**
 * What strata keeps of one entry of a package list. nixpkgs' `meta` has changed shape over the years (maintainers were strings, licences are
 * strings, objects or lists of either); every rule about that is in this file.
 */

/** What is known of one attribute path at one moment. Lists are null when nothing is known, never empty. */
export interface PackageFacts {
  name: string;
  version: string;
  description: string | null;
  license: string | null;
  homepage: string | null;
  maintainers: string[] | null;
  platforms: string[] | null;
  sourcePath: string | null;
  knownVulnerabilities: string[] | null;
}

/** The fields of an entry that count: those of the entry itself and those of its `meta`, not yet checked. */
export interface EntryFields {
  name?: unknown;
  pname?: unknown;
  version?: unknown;
  description?: unknown;
  license?: unknown;
  homepage?: unknown;
  maintainers?: unknown;
  platforms?: unknown;
  position?: unknown;
  knownVulnerabilities?: unknown;
  insecure?: unknown;
}

/** Written when an entry is marked insecure and gives no reason. */
const UNEXPLAINED_INSECURITY = "Marked as insecure; no advisory is listed.";

/** The facts of an entry, or null when it has no version (and so no place in an index of versions). */
export function readEntry(entry: EntryFields): PackageFacts | null {
  const fullName = text(entry.name);
  const split = splitDerivationName(fullName ?? "");
  const version = text(entry.version) ?? split.version;
  const name = text(entry.pname) ?? (split.name || fullName);
  if (version === null || name === null) {
    return null;
  }
  return {
    name,
    version,
    description: oneLine(entry.description),
    license: readLicense(entry.license),
    homepage: firstText(entry.homepage),
    maintainers: readList(entry.maintainers, readMaintainer),
    platforms: readRepeatingList(entry.platforms, readPlatform),
    sourcePath: readPosition(entry.position),
    knownVulnerabilities: readVulnerabilities(entry),
  };
}

/** `firefox-57.0.3` is firefox at 57.0.3: the version starts after the first dash that a digit follows. */
function splitDerivationName(fullName: string): { name: string; version: string | null } {
  const dash = fullName.search(/-\d/);
  if (dash < 0) {
    return { name: fullName, version: null };
  }
  return { name: fullName.slice(0, dash), version: fullName.slice(dash + 1) };
}

/** SPDX id, else short name, else full name; several joined with ", ". */
function readLicense(license: unknown): string | null {
  return readList(license, readOneLicense)?.join(", ") ?? null;
}

function readOneLicense(license: unknown): string | null {
  if (!isObject(license)) {
    return oneLine(license);
  }
  return oneLine(license["spdxId"]) ?? oneLine(license["shortName"]) ?? oneLine(license["fullName"]);
}

/** The GitHub name identifies a maintainer best; old trees have `Jane Doe <jane@example.org>`, of which the address is nobody's business. */
function readMaintainer(maintainer: unknown): string | null {
  if (isObject(maintainer)) {
    return oneLine(maintainer["github"]) ?? oneLine(maintainer["name"]) ?? oneLine(maintainer["email"]);
  }
  const line = oneLine(maintainer);
  return line?.replace(/\s*<[^<>]*>$/, "") || line;
}

/** Platforms are system names; pattern objects (`{ cpu: … }`) name no system and are passed over. */
function readPlatform(platform: unknown): string | null {
  return isObject(platform) ? text(platform["system"]) : text(platform);
}

/** `/nix/store/…/pkgs/x/y.nix:12` becomes `pkgs/x/y.nix`: the line moves with every edit and says nothing about a version. */
function readPosition(position: unknown): string | null {
  const line = text(position);
  if (line === null) {
    return null;
  }
  const path = line.replace(/:\d+$/, "");
  const root = path.search(/(?:^|\/)(?:pkgs|nixos|lib|maintainers)\//);
  if (root < 0) {
    return path;
  }
  return path.slice(path[root] === "/" ? root + 1 : root);
}

function readVulnerabilities(entry: EntryFields): string[] | null {
  const listed = readList(entry.knownVulnerabilities, oneLine);
  if (listed !== null) {
    return listed;
  }
  return entry.insecure === true ? [UNEXPLAINED_INSECURITY] : null;
}

/** Lists already read, by the array they were read from: EntrySlicer hands out one array for all entries with the same bytes. */
const readLists = new WeakMap<object, string[] | null>();

function readRepeatingList(value: unknown, readOne: (item: unknown) => string | null): string[] | null {
  if (!Array.isArray(value)) {
    return readList(value, readOne);
  }
  let list = readLists.get(value);
  if (list === undefined) {
    list = readList(value, readOne);
    readLists.set(value, list);
  }
  return list;
}

/** One or many become a list without repetitions; nothing becomes null. */
function readList(value: unknown, readOne: (item: unknown) => string | null): string[] | null {
  if (value === null || value === undefined) {
    return null;
  }
  const found = new Set<string>();
  for (const item of Array.isArray(value) ? value.flat() : [value]) {
    const read = readOne(item);
    if (read !== null) {
      found.add(read);
    }
  }
  return found.size === 0 ? null : [...found];
}

function firstText(value: unknown): string | null {
  return readList(value, text)?.[0] ?? null;
}

/** Blanks that are not a single space: looked for first, because nearly no line has them. */
const UNEVEN_BLANKS = /[^\S ]| {2}/;

function oneLine(value: unknown): string | null {
  const line = text(value);
  return line !== null && UNEVEN_BLANKS.test(line) ? line.replace(/\s+/g, " ") : line;
}

/** Half a surrogate pair, which JSON can spell and UTF-8 cannot. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Trimmed; null when it is no string or an empty one. NULs would end strings in places that we do not control. */
function text(value: unknown): string | null {
  if (typeof value !== "string") {
    return null;
  }
  let cleaned = value.includes("\0") ? value.replaceAll("\0", "") : value;
  if (LONE_SURROGATE.test(cleaned)) {
    cleaned = Buffer.from(cleaned).toString();
  }
  return cleaned.trim() || null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
