import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { buildDescriptionIndex } from "./build-description-index.js";
import { buildMatchText } from "./build-match-text.js";
import { buildOrders, type RowOrder } from "./build-orders.js";
import { buildRows, type RowTable } from "./build-rows.js";
import { DETAIL_FIELDS } from "./collect-details.js";
import { type CollectedRecords, collectRecords } from "./collect-records.js";
import { compareCodePoints } from "./compare-code-points.js";
import { alignSection, encodeHeader, type IndexHeader, type SectionPlace } from "./file-format.js";
import { formatTimestamp } from "./format-timestamp.js";
import type { IndexMeta, IndexStatistics, RangeRecord } from "./range-record.js";
import { SectionList } from "./section-list.js";

export interface WriteIndexOptions {
  /** Called now and then with the number of records read, then with each later stage. */
  readonly onProgress?: (progress: { stage: "reading" | "sorting" | "writing"; records: number }) => void;
  /** Stops the writing; nothing is left behind and the old file stays. */
  readonly signal?: AbortSignal;
}

/** Often enough for a progress line, seldom enough to cost nothing. */
const RECORDS_PER_PROGRESS = 10_000;

/**
 * Writes an index of the records to `path`: under a temporary name beside it first, synced, then renamed over it, so that
 * a reader sees the old file or the new one and nothing between. The bytes depend on the set of records and on `meta`
 * alone, not on the order of the input, the machine or the time.
 */
export async function writeIndex(
  records: Iterable<RangeRecord> | AsyncIterable<RangeRecord>,
  meta: IndexMeta,
  path: string,
  options: WriteIndexOptions = {},
): Promise<IndexHeader> {
  const collected = await collectRecords(records, (count) => {
    if (count % RECORDS_PER_PROGRESS !== 0) return;
    options.signal?.throwIfAborted();
    options.onProgress?.({ stage: "reading", records: count });
  });
  const count = collected.attributePath.length;
  options.signal?.throwIfAborted();
  options.onProgress?.({ stage: "sorting", records: count });
  const { sections, statistics } = buildSections(collected, meta);
  options.signal?.throwIfAborted();
  options.onProgress?.({ stage: "writing", records: count });
  return await writeSections(sections, statistics, meta, path, options.signal);
}

function buildSections(records: CollectedRecords, meta: IndexMeta) {
  const sections = new SectionList();
  const table = buildRows(records);
  const orders = buildOrders(records, table);
  addRows(sections, table);
  addTexts(sections, records);
  addOrder(sections, "relevance", orders.relevance);
  addOrder(sections, "date", orders.date);
  addOrder(sections, "version", orders.version);
  sections.add("entryShape", orders.entryShape);
  sections.add("shapeStarts", orders.shapeStarts);
  sections.add("versionRows", orders.versionRows);
  sections.add("versionEntries", orders.versionEntries);
  sections.add("versionRowStarts", orders.versionRowStarts);
  sections.add("nameEntries", orders.nameEntries);
  sections.add("nameEntryStarts", orders.nameEntryStarts);
  const match = buildMatchText(records, table);
  sections.add("matchText", match.text);
  sections.add("matchSuffixes", match.suffixes);
  sections.add("matchHits", match.hits);
  sections.add("letters", match.letters);
  sections.add("letterTiers", match.letterTiers);
  sections.add("letterRows", match.letterRows);
  addDescriptions(sections, records, table, orders.relevance.ranks);
  return { sections, statistics: countStatistics(records, table, meta) };
}

function addRows(sections: SectionList, table: RowTable): void {
  for (const name of ["rowEntry", "rowVersion", "rowFirstCommit", "rowLastCommit", "rowDetail"] as const) {
    sections.add(name, table[name]);
  }
  for (const name of [
    "entryRowStarts",
    "entrySize",
    "entryKey",
    "entryAttributePath",
    "entryName",
    "entryLicense",
    "keyEntryStarts",
    "attributePathEntryStarts",
    "versionClass",
    "commitDateClass",
  ] as const) {
    sections.add(name, table[name]);
  }
}

/** Strings are stored as JSON literals: rendering a record is copying. */
function addTexts(sections: SectionList, records: CollectedRecords): void {
  const literals = (texts: readonly string[]) => texts.map((text) => JSON.stringify(text));
  sections.addTexts("attributePath", literals(records.attributePaths));
  sections.addTexts("name", literals(records.names));
  sections.addTexts("version", literals(records.versions));
  sections.addTexts("license", records.licenses);
  const commits = records.commits.map((commit) => commit.hash + formatTimestamp(commit.date));
  sections.add("commits", Buffer.from(commits.join(""), "latin1"));
  for (const field of DETAIL_FIELDS) {
    const { texts, numbers } = records.details[field];
    sections.addTexts(field, texts);
    sections.add(`detail:${field}`, numbers);
  }
}

function addOrder(sections: SectionList, name: string, order: RowOrder): void {
  sections.add(`${name}Order:rows`, order.rows);
  sections.add(`${name}Order:entries`, order.entries);
  sections.add(`${name}Order:versions`, order.versions);
  sections.add(`${name}Order:ranks`, order.ranks);
}

function addDescriptions(
  sections: SectionList,
  records: CollectedRecords,
  table: RowTable,
  relevanceRanks: Uint32Array,
): void {
  const index = buildDescriptionIndex(records, table, relevanceRanks);
  sections.add("documentRow", index.documentRow);
  sections.addTexts("word", index.words);
  sections.addTexts("stem", index.stems);
  sections.add("stemWords", index.stemWords);
  sections.add("stemWordStarts", index.stemWordStarts);
  sections.add("postingStarts", index.postingStarts);
  sections.add("postingDocument", index.postingDocument);
  sections.add("postingScore", index.postingScore);
  sections.add("sequenceStarts", index.sequenceStarts);
  sections.add("sequence", index.sequence);
}

function countStatistics(records: CollectedRecords, table: RowTable, meta: IndexMeta): IndexStatistics {
  // Commits are sorted by date: the extremes of the numbers are the extremes of the dates.
  const oldest = records.commits[table.rowFirstCommit.reduce((a, b) => Math.min(a, b), records.commits.length)];
  const newest = records.commits[table.rowLastCommit.reduce((a, b) => Math.max(a, b), 0)];
  return {
    totalRanges: table.rows,
    uniqueNames: records.names.length,
    uniqueVersions: records.versions.length,
    oldestCommitDate: oldest?.date ?? null,
    newestCommitDate: newest?.date ?? null,
    lastIndexedCommit: meta.lastIndexedCommit ?? newest?.hash ?? null,
    lastIndexedDate: meta.lastIndexedDate ?? newest?.date ?? null,
  };
}

async function writeSections(
  list: SectionList,
  statistics: IndexStatistics,
  meta: IndexMeta,
  path: string,
  signal: AbortSignal | undefined,
): Promise<IndexHeader> {
  const header = planFile(list, statistics, meta);
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o644);
    try {
      await writeAt(file, encodeHeader(header), 0);
      for (const [i, section] of list.sections.entries()) {
        signal?.throwIfAborted();
        await writeAt(file, section.bytes, header.sections[i]!.offset);
      }
      await file.truncate(header.fileBytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
  return header;
}

/** Linux writes at most this much at once. */
const LARGEST_WRITE = 1 << 30;

async function writeAt(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, Math.min(LARGEST_WRITE, bytes.length - done), offset + done);
    done += bytesWritten;
  }
}

/** Makes the rename itself durable; not every platform can open a directory. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r").catch(() => undefined);
  await directory?.sync().catch(() => undefined);
  await directory?.close();
}

/** Room for the header: its length must be known before the offsets in it are. */
const HEADER_ROOM = 16 * 1024;

function planFile(list: SectionList, statistics: IndexStatistics, meta: IndexMeta): IndexHeader {
  const notes = Object.fromEntries(Object.entries(meta.notes ?? {}).sort(([a], [b]) => compareCodePoints(a, b)));
  const told = { ...(meta.sample ? { sample: true } : {}), ...(meta.notes ? { notes } : {}) };
  const digest = createHash("sha256").update(JSON.stringify([statistics, told]));
  const room = HEADER_ROOM + Buffer.byteLength(JSON.stringify(told));
  let offset = alignSection(room);
  const sections: SectionPlace[] = [];
  for (const { name, bytes } of list.sections) {
    digest.update(name).update(bytes);
    sections.push({ name, offset, bytes: bytes.length, crc: crc32(bytes) });
    offset = alignSection(offset + bytes.length);
  }
  const fingerprint = digest.digest("hex").slice(0, 16);
  return { fileBytes: offset, fingerprint, statistics, meta: told, sections };
}
