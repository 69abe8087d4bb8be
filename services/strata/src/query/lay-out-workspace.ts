import type { IndexHeader } from "../store/file-format.js";
import type { Planning } from "./planning.js";

/**
 * The working space behind an index's image: where each kernel keeps its lists, marks and output. Sizes follow from the
 * numbers of rows, entries and documents, so that no query ever allocates.
 */

/** Matches kept for the next page or the next sort of the same search; each costs five bytes an entry. */
export const MATCH_SLOTS = 8;
/** `limit` is at most 1000; longer lists (all versions of a package) are rendered in pieces of this many rows. */
export const LONGEST_PAGE = 1024;
/** A piece of rendered JSON; a record is at most some 300 kB once escaped, a usual page 20 to 60 kB. */
export const OUTPUT_BYTES = 4 << 20;
/** What a word can be worth in a document. */
export const LARGEST_WORD_SCORE = 15;
/** A query of 256 characters has at most 128 words. */
const LARGEST_SCORE = 128 * LARGEST_WORD_SCORE;
/** Where the kernels count with several counters in turn, as in assembly/describe.ts. */
const COUNTER_SETS = 4;
/** As in assembly/walk.ts. */
const SAMPLE_PARTS = 1024;
const TIERS = 7;
/** Wide copies may write up to 15 bytes past the end of a text. */
const COPY_SLACK = 64;

export interface WorkspacePlan {
  readonly bytes: number;
  /** Offsets from the start of the working space. */
  readonly at: Readonly<Record<WorkspacePart, number>>;
  readonly matchBytes: number;
}

type WorkspacePart =
  | "keyTier"
  | "keyList"
  | "licenseFlag"
  | "rankBits"
  | "entryBits"
  | "entryCounts"
  | "entryCodes"
  | "shapeCounts"
  | "tierShapes"
  | "versionRanges"
  | "sampleCounts"
  | "pageRows"
  | "documentScore"
  | "documentWordScore"
  | "scoreCounts"
  | "renderTable"
  | "phrase"
  | "result"
  | "matches"
  | "output";

export function planWorkspace(header: IndexHeader, planning: Planning): WorkspacePlan {
  const count = (section: string) => header.sections.find(({ name }) => name === section)!.bytes / 4;
  const rows = count("rowEntry");
  const entries = count("entryName");
  const keys = count("keyEntryStarts");
  const documents = count("documentRow");
  const matchBytes = align(entries) + align((entries + 1) * 4) + 64;
  const sizes: Record<WorkspacePart, number> = {
    keyTier: keys,
    keyList: (keys + 1) * 4,
    licenseFlag: count("licenseAt"),
    rankBits: (rows >> 3) + 64,
    entryBits: (entries >> 3) + 64,
    entryCounts: entries * 4,
    entryCodes: entries * 2,
    shapeCounts: Math.max(count("shapeStarts") * 4, 128),
    tierShapes: count("shapeStarts") * 4 * TIERS * 2,
    versionRanges: ((rows >> planning.blockBits) + 1) * 8,
    sampleCounts: SAMPLE_PARTS * 4,
    pageRows: LONGEST_PAGE * 4,
    documentScore: documents * 2,
    documentWordScore: documents,
    scoreCounts: (LARGEST_SCORE + 1) * 4 * COUNTER_SETS,
    renderTable: 1024,
    phrase: 1024,
    result: 64,
    matches: matchBytes * MATCH_SLOTS,
    output: OUTPUT_BYTES + COPY_SLACK,
  };
  let offset = 0;
  const at = {} as Record<WorkspacePart, number>;
  for (const part of Object.keys(sizes) as WorkspacePart[]) {
    at[part] = offset;
    offset += align(sizes[part]);
  }
  return { bytes: offset + COPY_SLACK, at, matchBytes };
}

function align(bytes: number): number {
  return Math.ceil(bytes / 64) * 64;
}
