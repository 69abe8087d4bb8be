import { readFileSync } from "node:fs";
import { type WasmModule, webAssembly } from "../store/web-assembly.js";

/** What assembly/ exports. Addresses and counts are 32-bit numbers; results must be made unsigned with `>>> 0`. */
export interface Kernels {
  markKeys(low: number, exactHigh: number, high: number): number;
  expandListedKeys(keys: number, filterLicense: number, entryTier: number, entryList: number, tierRows: number): number;
  expandAllKeys(
    tiers: number,
    keys: number,
    filterLicense: number,
    entryTier: number,
    entryList: number,
    tierRows: number,
  ): number;
  expandEntries(tiers: number, entryTier: number, entryList: number, tierRows: number): number;
  sumTiers(entryTier: number, entryList: number, count: number, entryRows: number, tierRows: number): void;
  clearEntries(entryTier: number, entryList: number, count: number): void;
  countByVersions(first: number, last: number): void;
  countByEntries(entryList: number, count: number, low: number, span: number): void;
  packEntryBits(entryTier: number, tier: number): void;
  walkForwards(
    orderRows: number,
    orderEntries: number,
    orderVersions: number,
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
    low: number,
    span: number,
    skip: number,
    want: number,
    page: number,
  ): number;
  scatterEntries(
    orderRanks: number,
    entryTier: number,
    entryList: number,
    count: number,
    tier: number,
    low: number,
    span: number,
  ): void;
  scatterOthers(orderRanks: number, entryTier: number): void;
  scatterVersions(orderRanks: number, entryTier: number, tier: number, first: number, last: number): void;
  takeBits(bits: number, limit: number, orderRows: number, skip: number, want: number, page: number): number;
  countShapes(
    entryTier: number,
    entryList: number,
    count: number,
    tier: number,
    entryRows: number,
    shapes: number,
  ): void;
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
  addPostings(word: number, held: number, half: number, count: number, list: number): number;
  closeWord(list: number, count: number): void;
  keepPhrase(list: number, count: number, stems: number, length: number): number;
  takeDocuments(
    list: number,
    count: number,
    documents: number,
    largestScore: number,
    skip: number,
    want: number,
    page: number,
  ): number;
  clearDocuments(list: number, count: number): void;
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
