import { type OpenIndex, openIndex } from "../store/open-index.js";
import { planWorkspace, type WorkspacePlan } from "./lay-out-workspace.js";
import { type Kernels, loadKernels } from "./load-kernels.js";
import { DEFAULT_PLANNING, type Planning } from "./planning.js";

/** An open index with its kernels and its working space: what every part of the query engine stands on. */
export interface EngineMemory {
  readonly index: OpenIndex;
  readonly kernels: Kernels;
  readonly plan: WorkspacePlan;
  readonly planning: Planning;
  /** The address of a part of the working space. */
  place(part: keyof WorkspacePlan["at"]): number;
  /** Numbers of the working space, seen from TypeScript. */
  view(address: number, length: number): Uint32Array;
}

/** Columns of the file that the kernels know under the same name. */
const COLUMNS = [
  "rowEntry",
  "rowVersion",
  "rowFirstCommit",
  "rowLastCommit",
  "rowDetail",
  "entryRowStarts",
  "entrySize",
  "entryKey",
  "entryAttributePath",
  "entryName",
  "entryLicense",
  "entryShape",
  "keyEntryStarts",
  "matchHits",
  "versionRows",
  "versionEntries",
  "postingDocument",
  "postingScore",
  "sequenceStarts",
  "sequence",
] as const;

const WORKSPACE = [
  "keyTier",
  "keyList",
  "licenseFlag",
  "rankBits",
  "entryBits",
  "entryCounts",
  "entryCodes",
  "shapeCounts",
  "sampleCounts",
  "documentScore",
  "documentWordScore",
  "scoreCounts",
  "renderTable",
] as const;

export async function openEngineMemory(path: string, planning: Planning = DEFAULT_PLANNING): Promise<EngineMemory> {
  const index = await openIndex(path, { workspaceBytes: (header) => planWorkspace(header, planning).bytes });
  const plan = planWorkspace(index.header, planning);
  const kernels = loadKernels(index.memory);
  const place = (part: keyof WorkspacePlan["at"]) => index.workspace.address + plan.at[part];
  for (const column of COLUMNS) kernels[column]!.value = index.address(column);
  for (const part of WORKSPACE) kernels[part]!.value = place(part);
  kernels["rows"]!.value = index.numbers("rowEntry").length;
  kernels["entries"]!.value = index.numbers("entryName").length;
  return {
    index,
    kernels,
    plan,
    planning,
    place,
    view: (address, length) => new Uint32Array(index.memory.buffer, address, length),
  };
}
