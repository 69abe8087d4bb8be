import type { RowTable } from "./build-rows.js";
import type { CollectedRecords } from "./collect-records.js";
import { foldAscii } from "./compare-code-points.js";
import { buildSuffixArray } from "./suffix-array.js";

/** What an occurrence of `q` is worth by the place it begins at; the numbers are those of the relevance tiers. */
const PLACE = { pathStart: 4, leafOrNameStart: 3, wordStart: 2, elsewhere: 1 } as const;
/** A hit is a key number and a place in one 32-bit number. */
const PLACE_BITS = 3;

/**
 * The text that `q` is looked up in: for each key the folded path and a NUL, then the folded name and a NUL where the
 * name is not the path's leaf anyway; and all its suffixes, sorted.
 */
export interface MatchText {
  readonly text: Uint8Array;
  /** By suffix: where it begins in the text. */
  readonly suffixes: Uint32Array;
  /** By suffix: key << PLACE_BITS | place. */
  readonly hits: Uint32Array;
  /** The bytes that a search of one letter can ask for: their hits are too many to be read. */
  readonly letters: Uint8Array;
  /** For each letter the tier of every entry, and the rows of each tier (eight numbers). */
  readonly letterTiers: Uint8Array;
  readonly letterRows: Uint32Array;
}

export function buildMatchText(records: CollectedRecords, table: RowTable): MatchText {
  const { text, keyOfByte, places } = layOutKeys(records, table);
  const suffixes = keepBeginnings(text, buildSuffixArray(text));
  const hits = new Uint32Array(suffixes.length);
  for (let i = 0; i < suffixes.length; i++) {
    const at = suffixes[i]!;
    hits[i] = (keyOfByte[at]! << PLACE_BITS) | places[at]!;
  }
  return { text, suffixes, hits, ...tierLetters(text, suffixes, hits, table) };
}

/** An occurrence that begins at a path, leaf or name start and ends with it is exact: two tiers higher. */
const EXACT_BONUS = 2;
const ASCII = 128;
const TIER_COUNTERS = 8;

function tierLetters(text: Uint8Array, suffixes: Uint32Array, hits: Uint32Array, table: RowTable) {
  const rowOf = new Int32Array(ASCII).fill(-1);
  for (const byte of text) if (byte > 0 && byte < ASCII) rowOf[byte] = 0;
  const letters = Uint8Array.from(rowOf.keys()).filter((byte) => rowOf[byte] === 0);
  for (let i = 0; i < letters.length; i++) rowOf[letters[i]!] = i * table.keys;
  const keyTiers = new Uint8Array(letters.length * table.keys);
  for (let i = 0; i < suffixes.length; i++) {
    const letter = text[suffixes[i]!]!;
    if (letter >= ASCII) continue;
    const place = hits[i]! & ((1 << PLACE_BITS) - 1);
    const isExact = place >= PLACE.leafOrNameStart && text[suffixes[i]! + 1] === 0;
    const at = rowOf[letter]! + (hits[i]! >>> PLACE_BITS);
    keyTiers[at] = Math.max(keyTiers[at]!, isExact ? place + EXACT_BONUS : place);
  }
  const letterTiers = new Uint8Array(letters.length * table.entries);
  const letterRows = new Uint32Array(letters.length * TIER_COUNTERS);
  for (let letter = 0; letter < letters.length; letter++) {
    for (let entry = 0; entry < table.entries; entry++) {
      const tier = keyTiers[letter * table.keys + table.entryKey[entry]!]!;
      letterTiers[letter * table.entries + entry] = tier;
      if (tier > 0) letterRows[letter * TIER_COUNTERS + tier]! += table.entrySize[entry]!;
    }
  }
  return { letters, letterTiers, letterRows };
}

function layOutKeys(records: CollectedRecords, table: RowTable) {
  const pieces: Buffer[] = [];
  const keys: number[] = [];
  const leafStarts: number[] = [];
  let bytes = 0;
  const addPiece = (piece: Buffer, key: number, leafStart: number) => {
    pieces.push(piece);
    keys.push(key);
    leafStarts.push(leafStart);
    bytes += piece.length;
  };
  for (let key = 0; key < table.keys; key++) {
    const entry = table.keyEntryStarts[key]!;
    const path = foldAscii(records.attributePaths[table.entryAttributePath[entry]!]!);
    const name = foldAscii(records.names[table.entryName[entry]!]!);
    const leafAt = path.lastIndexOf(".") + 1;
    addPiece(Buffer.from(`${path}\0`), key, Buffer.byteLength(path.slice(0, leafAt)));
    if (name !== path.slice(leafAt)) addPiece(Buffer.from(`${name}\0`), key, NO_LEAF);
  }
  const text = Buffer.concat(pieces, bytes);
  const keyOfByte = new Uint32Array(bytes);
  const places = new Uint8Array(bytes);
  let at = 0;
  for (let i = 0; i < pieces.length; i++) {
    const length = pieces[i]!.length;
    keyOfByte.fill(keys[i]!, at, at + length);
    markPlaces(text.subarray(at, at + length), places.subarray(at, at + length), leafStarts[i]!);
    at += length;
  }
  return { text, keyOfByte, places };
}

/** Marks a piece that is a name, not a path. */
const NO_LEAF = -1;

function markPlaces(piece: Uint8Array, places: Uint8Array, leafStart: number): void {
  for (let i = 0; i < piece.length; i++) {
    const startsWord = isWordByte(piece[i]!) && (i === 0 || !isWordByte(piece[i - 1]!));
    places[i] = startsWord ? PLACE.wordStart : PLACE.elsewhere;
  }
  places[0] = leafStart === NO_LEAF ? PLACE.leafOrNameStart : PLACE.pathStart;
  if (leafStart > 0) places[leafStart] = PLACE.leafOrNameStart;
}

/** Letters, digits, and every byte of a character outside ASCII. */
function isWordByte(byte: number): boolean {
  return (byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57) || byte >= 128;
}

/** No query begins with a NUL or in the middle of a character. */
function keepBeginnings(text: Uint8Array, suffixes: Uint32Array): Uint32Array {
  let count = 0;
  for (let i = 0; i < suffixes.length; i++) {
    const byte = text[suffixes[i]!]!;
    if (byte !== 0 && (byte & 0xc0) !== 0x80) suffixes[count++] = suffixes[i]!;
  }
  return suffixes.slice(0, count);
}
