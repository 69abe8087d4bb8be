/** Reads the seed of the sample; the seed's own head says how it is written. */

/** From this month on there is this version; null: there is none. */
interface SeedEvent {
  /** Milliseconds since 1970. */
  time: number;
  version: string | null;
}

export interface SeedPackage {
  attributePath: string;
  name: string;
  license: string | null;
  homepage: string;
  description: string;
  events: SeedEvent[];
  insecure: { prefix: string; reason: string }[];
}

/** A nested set that holds the packages of a group for a time. */
interface SeedSet {
  name: string;
  from: number;
  until: number;
}

export class SeedError extends Error {
  override name = "SeedError";
}

export function parseSeed(text: string): SeedPackage[] {
  const sets = new Map<string, SeedSet[]>();
  const packages: SeedPackage[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    try {
      const group = /^\[(\w+)\] (.*)$/.exec(line);
      if (group !== null) {
        sets.set(group[1]!, group[2]!.trim().split(/\s+/).map(parseSet));
      } else if (line.trim() !== "" && !line.startsWith("#")) {
        packages.push(...parseLine(line, sets));
      }
    } catch (cause) {
      throw new SeedError(`Line ${at + 1} of the seed: ${(cause as Error).message}`);
    }
  }
  return packages;
}

function parseLine(line: string, sets: ReadonlyMap<string, SeedSet[]>): SeedPackage[] {
  const [path, license, homepage, description, history, insecure] = line.split(" | ").map((part) => part.trim());
  if (history === undefined) {
    throw new SeedError("it has less than five fields");
  }
  const [fullPath, givenName] = path!.split(" = ");
  const [, group, leaf] = /^(?:\[(\w+)\])?(\S+)$/.exec(fullPath!) ?? [];
  const one: SeedPackage = {
    attributePath: leaf!,
    name: givenName ?? leaf!,
    license: license === "" ? null : license!,
    homepage: homepage!,
    description: description!,
    events: parseHistory(history),
    insecure: (insecure ?? "").split("; ").filter(Boolean).map(parseInsecure),
  };
  if (group === undefined) {
    return [one];
  }
  const members = sets.get(group);
  if (members === undefined) {
    throw new SeedError(`there is no group [${group}]`);
  }
  return members.map((set) => ({
    ...one,
    attributePath: `${set.name}.${leaf}`,
    events: clip(one.events, set),
  }));
}

/** The part of a history that a set saw, beginning with what was current when the set appeared. */
function clip(events: readonly SeedEvent[], set: SeedSet): SeedEvent[] {
  const { from, until } = set;
  if (events.some(({ version }) => version?.includes("SERIES"))) {
    return fillSeries(events, set);
  }
  const current = events.filter(({ time }) => time <= from).at(-1);
  const inside = events.filter(({ time }) => time > from && time < until);
  return [...(current === undefined ? [] : [{ ...current, time: from }]), ...inside, { time: until, version: null }];
}

/** A series begins with its set and ends with it: the whole run, stretched over that time. */
function fillSeries(events: readonly SeedEvent[], { name, from, until }: SeedSet): SeedEvent[] {
  const [, major, minor] = /_(\d+)_(\d+)$/.exec(name) ?? [];
  const step = (until - from) / events.length;
  const versions = events.map(({ version }) => version?.replace("SERIES", `${major}.${minor}`) ?? null);
  return [...versions.map((version, at) => ({ version, time: from + at * step })), { time: until, version: null }];
}

function parseSet(text: string): SeedSet {
  const [, name, from, until] = /^(\w+)@([\d-]+)~([\d-]+)$/.exec(text) ?? [];
  if (name === undefined) {
    throw new SeedError(`"${text}" is not a set with its time`);
  }
  return { name, from: parseMonth(from!), until: parseMonth(until!, 1) };
}

function parseHistory(text: string): SeedEvent[] {
  return text.split(/\s+/).flatMap((part) => {
    const [, version, from, until] = /^(.+)@(\d{4}-\d{2})(?:~(\d{4}-\d{2}))?$/.exec(part) ?? [];
    if (version === undefined) {
      throw new SeedError(`"${part}" is neither VERSION@YYYY-MM nor a run of versions`);
    }
    if (version === "end" || version === "gone") {
      return [{ time: parseMonth(from!), version: null }];
    }
    return spread(expandVersions(version), parseMonth(from!), until === undefined ? null : parseMonth(until, 1));
  });
}

function spread(versions: readonly string[], from: number, until: number | null): SeedEvent[] {
  if (until === null && versions.length !== 1) {
    throw new SeedError(`"${versions[0]}…" is a run of versions and needs an end`);
  }
  const step = until === null ? 0 : (until - from) / versions.length;
  return versions.map((version, at) => ({ version, time: from + at * step }));
}

/** `3.{8..10}.1` gives 3.8.1, 3.9.1, 3.10.1; letters count too, and leading zeros are kept. */
function expandVersions(pattern: string): string[] {
  const [whole, from, to, step] = /\{(\w+)\.\.(\w+)(?:\/(\d+))?\}/.exec(pattern) ?? [];
  if (whole === undefined) {
    return [pattern];
  }
  const isLetter = /^[a-z]$/.test(from!);
  const numberOf = (text: string) => (isLetter ? text.charCodeAt(0) : Number(text));
  const textOf = (number: number) =>
    isLetter ? String.fromCharCode(number) : String(number).padStart(from!.length, "0");
  const versions: string[] = [];
  for (let number = numberOf(from!); number <= numberOf(to!); number += Number(step ?? 1)) {
    versions.push(pattern.replace(whole, textOf(number)));
  }
  if (versions.length === 0 || versions.some((version) => version.includes("NaN"))) {
    throw new SeedError(`"${pattern}" gives no versions`);
  }
  return versions;
}

function parseInsecure(text: string): { prefix: string; reason: string } {
  const equals = text.indexOf("=");
  if (equals < 1) {
    throw new SeedError(`"${text}" is not PREFIX=reason`);
  }
  return { prefix: text.slice(0, equals), reason: text.slice(equals + 1) };
}

function parseMonth(text: string, monthsLater = 0): number {
  const [year, month] = text.split("-").map(Number);
  return Date.UTC(year!, month! - 1 + monthsLater, 1);
}
