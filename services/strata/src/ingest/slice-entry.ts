import type { EntryFields } from "./read-entry.js";

/**
 * Takes the fields that strata keeps out of an entry's bytes without parsing the rest: the long description, outputs and the like are most of an
 * entry, and lists of platforms and licences repeat, byte for byte, thousands of times. What repeats is parsed once and remembered.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BRACKET_BIT = 0x20;

/** Fields of the entry itself, and of its `meta`. */
const ENTRY_KEYS = ["name", "pname", "version"] as const;
const META_KEYS = [
  "description",
  "license",
  "homepage",
  "maintainers",
  "platforms",
  "position",
  "knownVulnerabilities",
  "insecure",
] as const;
/** The fields whose parsed values are remembered by their bytes: long lists of which there are few. */
const REPEATING_KEYS: ReadonlySet<string> = new Set(["license", "platforms"]);
/** Different slices remembered per field before all are forgotten: far above what one release has. */
const MOST_REMEMBERED = 200_000;

export class EntrySlicer {
  private readonly remembered = new Map<number | string, unknown>();

  /** `keyOf` gives a key for a part of the bytes: equal for equal bytes, different for different ones (a good hash will do). */
  constructor(private readonly keyOf: (bytes: Buffer, start: number, end: number) => number | string) {}

  /** The fields of the object at bytes[start..end). Throws SyntaxError when a field that is kept is not JSON. */
  slice(bytes: Buffer, start: number, end: number): EntryFields {
    const fields: EntryFields = {};
    forEachMember(bytes, start, end, (keyStart, keyEnd, valueStart, valueEnd) => {
      const key = matchKey(bytes, keyStart, keyEnd, ENTRY_KEYS);
      if (key !== undefined) {
        fields[key] = parseSlice(bytes, valueStart, valueEnd);
      } else if (isMeta(bytes, keyStart, keyEnd) && bytes[valueStart] === OPEN_BRACE) {
        this.sliceMeta(bytes, valueStart, valueEnd, fields);
      }
    });
    return fields;
  }

  private sliceMeta(bytes: Buffer, start: number, end: number, fields: EntryFields): void {
    forEachMember(bytes, start, end, (keyStart, keyEnd, valueStart, valueEnd) => {
      const key = matchKey(bytes, keyStart, keyEnd, META_KEYS);
      if (key === undefined) {
        return;
      }
      fields[key] = REPEATING_KEYS.has(key)
        ? this.parseRepeating(bytes, valueStart, valueEnd)
        : parseSlice(bytes, valueStart, valueEnd);
    });
  }

  /** The same bytes give the very same value: whoever reads it may key a cache by identity. */
  private parseRepeating(bytes: Buffer, start: number, end: number): unknown {
    const key = this.keyOf(bytes, start, end);
    let value = this.remembered.get(key);
    if (value === undefined) {
      value = parseSlice(bytes, start, end);
      if (this.remembered.size >= MOST_REMEMBERED) {
        this.remembered.clear();
      }
      this.remembered.set(key, value);
    }
    return value;
  }
}

function isMeta(bytes: Buffer, start: number, end: number): boolean {
  return end - start === 4 && bytes[start] === 0x6d && bytes.toString("latin1", start, end) === "meta";
}

function matchKey<Key extends string>(
  bytes: Buffer,
  start: number,
  end: number,
  keys: readonly Key[],
): Key | undefined {
  const length = end - start;
  for (const key of keys) {
    if (key.length === length && key.charCodeAt(0) === bytes[start] && bytes.toString("latin1", start, end) === key) {
      return key;
    }
  }
  return undefined;
}

function parseSlice(bytes: Buffer, start: number, end: number): unknown {
  const text = bytes.toString("utf8", start, end);
  // Most are strings without an escape, which need no parser.
  const isPlain = bytes[start] === QUOTE && !text.includes("\\");
  return isPlain ? text.slice(1, -1) : JSON.parse(text);
}

/** Calls back for each member of the object at bytes[start..end); the scanner has made sure that brackets and quotes match. */
function forEachMember(
  bytes: Buffer,
  start: number,
  end: number,
  onMember: (keyStart: number, keyEnd: number, valueStart: number, valueEnd: number) => void,
): void {
  let at = start + 1;
  while (at < end) {
    while (at < end && bytes[at] !== QUOTE) {
      at++;
    }
    if (at >= end) {
      return;
    }
    const keyStart = at + 1;
    const keyEnd = stringEnd(bytes, keyStart, end);
    let valueStart = keyEnd + 1;
    while (valueStart < end && (bytes[valueStart]! <= 0x20 || bytes[valueStart] === 0x3a)) {
      valueStart++;
    }
    const valueEnd = skipValue(bytes, valueStart, end);
    onMember(keyStart, keyEnd, valueStart, valueEnd);
    at = valueEnd;
  }
}

function stringEnd(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== QUOTE) {
    at += bytes[at] === BACKSLASH ? 2 : 1;
  }
  return at;
}

/** The end of the value that starts here: after its bracket or quote, or where a comma, bracket or blank ends a bare word. */
function skipValue(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start]!;
  if (first === QUOTE) {
    return stringEnd(bytes, start + 1, end) + 1;
  }
  let at = start;
  if ((first | BRACKET_BIT) !== OPEN_BRACE) {
    while (at < end && bytes[at] !== 0x2c && bytes[at] !== CLOSE_BRACE && bytes[at]! > 0x20) {
      at++;
    }
    return at;
  }
  let depth = 0;
  while (at < end) {
    const byte = bytes[at++]!;
    if (byte === QUOTE) {
      at = stringEnd(bytes, at, end) + 1;
    } else {
      const bracket = byte | BRACKET_BIT;
      if (bracket === OPEN_BRACE) {
        depth++;
      } else if (bracket === CLOSE_BRACE && --depth === 0) {
        return at;
      }
    }
  }
  return end;
}
