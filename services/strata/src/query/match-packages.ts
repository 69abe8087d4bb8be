import { foldAscii } from "../store/compare-code-points.js";
import type { EngineMemory } from "./engine-memory.js";
import { SuffixFinder } from "./find-suffixes.js";
import { MATCH_SLOTS } from "./lay-out-workspace.js";
import { TextDictionary } from "./text-dictionary.js";

/** Relevance tiers, the best last; 0 is no match. */
export const TIER = { exactPath: 6, exactNameOrLeaf: 5 } as const;
export const TIERS = 7;
const LETTER_COUNTERS = 8;
/** In place of the address of a list: every entry is to be looked at. */
export const ALL_ENTRIES = 0;

/** What a search matches before its version filter: which entries, in which tier, with how many rows. */
export interface Match {
  /** Address of one byte an entry: its tier. */
  readonly entryTier: number;
  /** Address of the list of matched entries, and its length; 0: no list, all entries. */
  readonly entryList: number;
  readonly entries: number;
  /** Rows of each tier, where they are known. */
  readonly tierRows: readonly number[] | undefined;
  readonly rows: number;
}

export interface MatchQuery {
  readonly q: string;
  readonly exact: boolean;
  readonly license: string | null;
}

/**
 * Finds the entries that a query matches. The last few matches are kept: the next page or another order of the same search
 * starts from there.
 */
export class PackageMatcher {
  readonly #memory: EngineMemory;
  readonly #suffixes: SuffixFinder;
  readonly #paths: TextDictionary;
  readonly #names: TextDictionary;
  readonly #licenses: string[];
  readonly #entryAttributePath: Uint32Array;
  readonly #entryLicense: Uint32Array;
  readonly #entryRowStarts: Uint32Array;
  readonly #pathEntryStarts: Uint32Array;
  readonly #nameEntries: Uint32Array;
  readonly #nameEntryStarts: Uint32Array;
  readonly #licenseFlag: Uint8Array;
  readonly #letters: Uint8Array;
  readonly #keys: number;
  readonly #keyTier: Uint8Array;
  /** Least recently used first. */
  readonly #kept = new Map<string, { slot: number; match: Match }>();

  constructor(memory: EngineMemory) {
    const { index } = memory;
    this.#memory = memory;
    this.#suffixes = new SuffixFinder(index);
    this.#paths = new TextDictionary(index, "attributePath", { folded: false });
    this.#names = new TextDictionary(index, "name", { folded: false });
    const licenses = new TextDictionary(index, "license", { folded: false });
    this.#licenses = Array.from({ length: licenses.count }, (_, number) => foldLicense(licenses.literal(number)));
    this.#entryAttributePath = index.numbers("entryAttributePath");
    this.#entryLicense = index.numbers("entryLicense");
    this.#entryRowStarts = index.numbers("entryRowStarts");
    this.#pathEntryStarts = index.numbers("attributePathEntryStarts");
    this.#nameEntries = index.numbers("nameEntries");
    this.#nameEntryStarts = index.numbers("nameEntryStarts");
    this.#letters = index.bytes("letters");
    this.#keys = index.numbers("keyEntryStarts").length - 1;
    this.#keyTier = new Uint8Array(index.memory.buffer, memory.place("keyTier"), this.#keys);
    this.#licenseFlag = new Uint8Array(index.memory.buffer, memory.place("licenseFlag"), licenses.count);
  }

  match(query: MatchQuery): Match {
    const q = query.exact ? query.q : foldAscii(query.q);
    const license = query.license === null ? null : foldAscii(query.license);
    const key = JSON.stringify([q, query.exact, license]);
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known.match;
    }
    const slot = this.#freeSlot();
    if (license !== null) this.#flagLicenses(license);
    const match = this.#find(q, query.exact, license !== null, slot);
    this.#kept.set(key, { slot, match });
    return match;
  }

  #find(q: string, exact: boolean, filterLicense: boolean, slot: number): Match {
    if (exact) return this.#matchExact(q, filterLicense, slot);
    const letter = q.length === 1 ? this.#letters.indexOf(q.charCodeAt(0)) : -1;
    return letter >= 0 ? this.#matchLetter(letter, filterLicense, slot) : this.#matchText(q, filterLicense, slot);
  }

  /** Forgets all kept matches; for measurements. */
  forget(): void {
    for (const { match } of this.#kept.values()) this.#clear(match);
    this.#kept.clear();
  }

  /** The tiers of a free slot are all zero. */
  #clear(match: Match): void {
    const isIndexOwn = match.entryTier < this.#memory.index.workspace.address;
    if (isIndexOwn) return;
    if (match.entryList === ALL_ENTRIES) this.#tiersAt(match.entryTier).fill(0);
    else this.#memory.kernels.clearEntries(match.entryTier, match.entryList, match.entries);
  }

  #tiersAt(entryTier: number): Uint8Array {
    return new Uint8Array(this.#memory.index.memory.buffer, entryTier, this.#entryLicense.length);
  }

  #freeSlot(): number {
    if (this.#kept.size < MATCH_SLOTS) return this.#kept.size;
    const [key, { slot, match }] = this.#kept.entries().next().value!;
    this.#kept.delete(key);
    this.#clear(match);
    return slot;
  }

  /** The parts of a slot: seven counters, the tiers, the list. */
  #slotParts(slot: number) {
    const tierRows = this.#memory.place("matches") + slot * this.#memory.plan.matchBytes;
    const entryTier = tierRows + 64;
    const entryList = entryTier + Math.ceil(this.#entryLicense.length / 64) * 64;
    return { tierRows, entryTier, entryList };
  }

  #matchText(q: string, filterLicense: boolean, slot: number): Match {
    const { kernels } = this.#memory;
    const { tierRows, entryTier, entryList } = this.#slotParts(slot);
    const filter = filterLicense ? 1 : 0;
    const query = Buffer.from(q);
    const { low, exactHigh, high } = this.#suffixes.find(query);
    if ((high - low) * this.#memory.planning.broadShare < this.#keys) {
      const keys = kernels.listKeys(low, exactHigh, high);
      const entries = kernels.expandListedKeys(keys, filter, entryTier, entryList, tierRows);
      return finishMatch(entryTier, entryList, entries, [...this.#memory.view(tierRows, TIERS)]);
    }
    kernels.markKeys(low, exactHigh, high);
    kernels.tierEntries(this.#keys, filter, entryTier);
    this.#keyTier.fill(0);
    return this.#finishBroadMatch(entryTier);
  }

  #finishBroadMatch(entryTier: number): Match {
    const { index, kernels } = this.#memory;
    const rows = kernels.sumRows(entryTier, index.address("entrySize")) >>> 0;
    return { entryTier, entryList: ALL_ENTRIES, entries: this.#entryLicense.length, tierRows: undefined, rows };
  }

  /** The tiers of a single letter lie in the index, ready for use. */
  #matchLetter(letter: number, filterLicense: boolean, slot: number): Match {
    const { index, kernels } = this.#memory;
    const all = this.#entryLicense.length;
    const tiers = index.address("letterTiers") + letter * all;
    if (!filterLicense) {
      const rows = index.numbers("letterRows").subarray(letter * LETTER_COUNTERS, letter * LETTER_COUNTERS + TIERS);
      return finishMatch(tiers, ALL_ENTRIES, all, [...rows]);
    }
    const { entryTier } = this.#slotParts(slot);
    kernels.filterEntries(tiers, entryTier);
    return this.#finishBroadMatch(entryTier);
  }

  /** `exact` compares case-sensitively; there are few such entries, so no kernel is needed. */
  #matchExact(q: string, filterLicense: boolean, slot: number): Match {
    const { entryTier, entryList } = this.#slotParts(slot);
    const tiers = this.#tiersAt(entryTier);
    const list = this.#memory.view(entryList, this.#entryLicense.length);
    const tierRows = new Array<number>(TIERS).fill(0);
    const folded = foldAscii(q);
    let entries = 0;
    for (const entry of this.#exactEntries(q)) {
      if (tiers[entry] !== 0 || (filterLicense && this.#licenseFlag[this.#entryLicense[entry]!] === 0)) continue;
      const path = this.#paths.text(this.#entryAttributePath[entry]!);
      const tier = foldAscii(path) === folded ? TIER.exactPath : TIER.exactNameOrLeaf;
      tiers[entry] = tier;
      list[entries++] = entry;
      tierRows[tier]! += this.#entryRowStarts[entry + 1]! - this.#entryRowStarts[entry]!;
    }
    return finishMatch(entryTier, entryList, entries, tierRows);
  }

  *#exactEntries(q: string): Generator<number> {
    const path = this.#paths.find(q);
    if (path >= 0) {
      for (let entry = this.#pathEntryStarts[path]!; entry < this.#pathEntryStarts[path + 1]!; entry++) yield entry;
    }
    const name = this.#names.find(q);
    if (name >= 0) yield* this.#nameEntries.subarray(this.#nameEntryStarts[name], this.#nameEntryStarts[name + 1]);
  }

  #flagLicenses(license: string): void {
    for (let i = 0; i < this.#licenses.length; i++) this.#licenseFlag[i] = this.#licenses[i]!.includes(license) ? 1 : 0;
  }
}

/** An unknown licence holds no text at all, not even the empty one. */
const NO_LICENSE = { includes: () => false } as unknown as string;

function foldLicense(literal: string): string {
  return literal === "null" ? NO_LICENSE : foldAscii(JSON.parse(literal) as string);
}

function finishMatch(entryTier: number, entryList: number, entries: number, tierRows: number[]): Match {
  return { entryTier, entryList, entries, tierRows, rows: tierRows.reduce((sum, rows) => sum + rows, 0) };
}
