import type { EngineMemory } from "./engine-memory.js";
import { TextDictionary } from "./text-dictionary.js";

/** Which versions are let through: numbers low..low+span-1, and where their rows lie in the version-grouped order. */
export interface VersionFilter {
  readonly low: number;
  readonly span: number;
  readonly firstRow: number;
  readonly lastRow: number;
}

/** The kernels know this span as "no filter". */
export const ANY_VERSION: VersionFilter = { low: 0, span: 0xffff_ffff, firstRow: 0, lastRow: 0 };

/** Finds the versions that begin with a prefix, whatever its case. */
export class VersionFilters {
  readonly #versions: TextDictionary;
  readonly #rowStarts: Uint32Array;

  constructor({ index }: EngineMemory) {
    this.#versions = new TextDictionary(index, "version", { folded: true });
    this.#rowStarts = index.numbers("versionRowStarts");
  }

  find(prefix: string | null): VersionFilter {
    if (prefix === null || prefix === "") return ANY_VERSION;
    const { low, high } = this.#versions.prefixRange(prefix);
    const firstRow = this.#rowStarts[low] ?? 0;
    return { low, span: high - low, firstRow, lastRow: high > low ? this.#rowStarts[high]! : firstRow };
  }
}
