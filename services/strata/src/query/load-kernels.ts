import { readFileSync } from "node:fs";
import { type WasmModule, webAssembly } from "../store/web-assembly.js";

/** What assembly/ exports. Addresses and counts are 32-bit numbers; results must be made unsigned with `>>> 0`. */
export interface Kernels {
  listKeys(low: number, exactHigh: number, high: number): number;
  markKeys(low: number, exactHigh: number, high: number): void;
  expandListedKeys(keys: number, filterLicense: number, entryTier: number, entryList: number, tierRows: number): number;
  tierEntries(keys: number, filterLicense: number, entryTier: number): void;
  filterEntries(tiers: number, entryTier: number): void;
  clearEntries(entryTier: number, entryList: number, count: number): void;
  packEntryBits(entryTier: number, tier: number): void;
  countByVersions(first: number, last: number): void;
  countByEntries(entryList: number, count: number, low: number, span: number): void;
  sumTiers(entryTier: number, entryList: number, count: number, entryRows: number, tierRows: number): void;
  sumRows(entryTier: number, entryRows: number): number;
  countMarkedVersions(first: number, last: number): number;
  countMarkedEntries(low: number, span: number): number;
  countShapes(
    entryTier: number,
    entryList: number,
    count: number,
    tier: number,
    entryRows: number,
    shapes: number,
  ): void;
  countTierShapes(entryTier: number, entryRows: number, shapes: number, counts: number): void;
  countTierShapesByVersions(entryTier: number, first: number, last: number, shapes: number, counts: number): void;
  summarizeVersions(orderVersions: number, blockBits: number, ranges: number): void;
  walkForwards(
    orderRows: number,
    orderEntries: number,
    orderVersions: number,
    ranges: number,
    blockBits: number,
    low: number,
    span: number,
    from: number,
    to: number,
    skip: number,
    want: number,
    page: number,
  ): number;
  walkBackwards(
    orderRows: number,
    orderEntries: number,
    orderVersions: number,
    ranges: number,
    blockBits: number,
    low: number,
    span: number,
    skip: number,
    want: number,
    page: number,
  ): number;
  guessPlace(orderRanks: number, low: number, span: number, every: number, skip: number, total: number): number;
  countBefore(orderRanks: number, low: number, span: number, others: number, place: number): number;
  walkFrom(
    orderRows: number,
    orderEntries: number,
    orderVersions: number,
    low: number,
    span: number,
    place: number,
    before: number,
    skip: number,
    want: number,
    page: number,
  ): number;
  scatterEntries(orderRanks: number, low: number, span: number): void;
  scatterVersions(orderRanks: number, first: number, last: number): void;
  takeBits(orderRows: number, skip: number, want: number, page: number): number;
  walkNames(
    nameEntries: number,
    count: number,
    entryRows: number,
    low: number,
    span: number,
    skip: number,
    want: number,
    page: number,
  ): number;
  addPostings(first: number, last: number, half: number): void;
  closeWord(isFirst: number, documents: number): void;
  keepPhrase(documents: number, stems: number, length: number): void;
  countScores(documents: number, largestScore: number): number;
  takeDocuments(documents: number, largestScore: number, skip: number, want: number, page: number): void;
  renderRows(list: number, first: number, last: number, to: number, end: number, result: number): number;
}

/** The addresses and counts that assembly/columns.ts declares. */
export type KernelColumns = Record<string, { value: number }>;

const KERNELS_FILE = new URL("../../dist/kernels.wasm", import.meta.url);
let compiled: WasmModule | undefined;

/** An instance of the kernels on the memory of one index. The module is compiled once for the process. */
export function loadKernels(memory: object): Kernels & KernelColumns {
  compiled ??= new webAssembly.Module(readKernels());
  const imports = { env: { memory, abort: refuseAbort } };
  return new webAssembly.Instance(compiled, imports).exports as Kernels & KernelColumns;
}

function readKernels(): Uint8Array {
  try {
    return readFileSync(KERNELS_FILE);
  } catch (error) {
    throw new Error("The query kernels are not built: run 'npm run build'.", { cause: error });
  }
}

function refuseAbort(): never {
  throw new Error("A query kernel stopped.");
}
