import type { IndexHeader } from "../store/file-format.js";
import { formatTimestamp } from "../store/format-timestamp.js";
import { type EngineMemory, openEngineMemory } from "./engine-memory.js";
import { findNearPaths } from "./near-paths.js";
import { findNearVersions } from "./near-versions.js";
import { PackageRecords } from "./package-records.js";
import type { Planning } from "./planning.js";
import { RecordRenderer } from "./render-records.js";
import { DescriptionSearch } from "./search-descriptions.js";
import { PackageSearch, type SearchPage, type SearchQuery } from "./search-packages.js";
import { drawTimeline } from "./timeline.js";

/** The largest page; a larger `limit` is clamped to it. */
export const LARGEST_LIMIT = 1000;

/** Why a look-up found nothing, with names the asker may have meant. */
export interface NotFound {
  readonly missing: "package" | "version";
  readonly near: readonly string[];
}

/** An open index and every question it answers. Answers are the bytes of JSON responses, ready to be sent. */
export class PackageIndex {
  readonly header: IndexHeader;
  readonly identity: string;
  readonly packages: PackageSearch;
  readonly descriptions: DescriptionSearch;
  readonly records: PackageRecords;
  readonly #renderer: RecordRenderer;
  readonly #commits: Buffer;
  readonly #stats: Buffer;
  readonly #drawTimeline: () => Promise<Buffer>;
  #timeline: Promise<Buffer> | undefined;

  /** `planning` is for tests: every way to a page must lead to the same page. */
  static async open(path: string, planning?: Planning): Promise<PackageIndex> {
    return new PackageIndex(await openEngineMemory(path, planning));
  }

  private constructor(memory: EngineMemory) {
    this.header = memory.index.header;
    this.identity = memory.index.identity;
    this.packages = new PackageSearch(memory);
    this.descriptions = new DescriptionSearch(memory);
    this.records = new PackageRecords(memory);
    this.#renderer = new RecordRenderer(memory);
    const commits = memory.index.bytes("commits");
    this.#commits = Buffer.from(commits.buffer, commits.byteOffset, commits.length);
    this.#stats = Buffer.from(JSON.stringify({ data: describeStatistics(this.header) }));
    this.#drawTimeline = async () => Buffer.from(JSON.stringify({ data: await drawTimeline(memory.index) }));
  }

  search(query: SearchQuery): Buffer {
    const limit = Math.min(query.limit, LARGEST_LIMIT);
    return this.#renderPage(this.packages.search({ ...query, limit }), limit, query.offset);
  }

  searchDescriptions(query: { q: string; limit: number; offset: number }): Buffer {
    const limit = Math.min(query.limit, LARGEST_LIMIT);
    return this.#renderPage(this.descriptions.search({ ...query, limit }), limit, query.offset);
  }

  /** All records of a package. */
  findPackage(attributePath: string): Buffer | NotFound {
    const rows = this.records.rowsOf(attributePath);
    return rows === null ? this.#noPackage(attributePath) : this.#renderer.render(rows, '{"data":[', "]}");
  }

  /** All records of one version, or only its first or last occurrence. */
  findVersion(attributePath: string, version: string, which: "all" | "first" | "last"): Buffer | NotFound {
    const all = this.records.rowsOf(attributePath);
    if (all === null) return this.#noPackage(attributePath);
    const rows = this.records.ofVersion(all, version);
    if (rows.length === 0) {
      return { missing: "version", near: findNearVersions(this.records.versionsOf(all), version) };
    }
    if (which === "all") return this.#renderer.render(rows, '{"data":[', "]}");
    const row = which === "first" ? this.records.first(rows) : this.records.last(rows);
    return this.#renderer.render(Uint32Array.of(row), '{"data":', "}");
  }

  findHistory(attributePath: string): Buffer | NotFound {
    const rows = this.records.rowsOf(attributePath);
    if (rows === null) return this.#noPackage(attributePath);
    const entries = this.records
      .history(rows)
      .map(
        ({ version, first, last, isInsecure }) =>
          `{"version":${this.records.versions.literal(version)},"first_seen":"${this.#dateOf(first)}",` +
          `"last_seen":"${this.#dateOf(last)}","is_insecure":${isInsecure}}`,
      );
    return Buffer.from(`{"data":[${entries.join(",")}]}`);
  }

  statistics(): Buffer {
    return this.#stats;
  }

  /** Computed at the first request, a little at a time, and then kept. */
  timeline(): Promise<Buffer> {
    this.#timeline ??= this.#drawTimeline();
    return this.#timeline;
  }

  #renderPage(page: SearchPage, limit: number, offset: number): Buffer {
    const hasMore = offset + page.rows.length < page.total;
    const meta = `{"total":${page.total},"limit":${limit},"offset":${offset},"has_more":${hasMore}}`;
    return this.#renderer.render(page.rows, '{"data":[', `],"meta":${meta}}`);
  }

  #noPackage(attributePath: string): NotFound {
    return { missing: "package", near: findNearPaths(this.records.paths, attributePath) };
  }

  /** A commit is 40 characters of hash and 20 of timestamp. */
  #dateOf(commit: number): string {
    return this.#commits.toString("latin1", commit * 60 + 40, commit * 60 + 60);
  }
}

function describeStatistics({ statistics, meta }: IndexHeader) {
  const date = (seconds: number | null) => (seconds === null ? null : formatTimestamp(seconds));
  return {
    total_ranges: statistics.totalRanges,
    unique_names: statistics.uniqueNames,
    unique_versions: statistics.uniqueVersions,
    oldest_commit_date: date(statistics.oldestCommitDate),
    newest_commit_date: date(statistics.newestCommitDate),
    last_indexed_commit: statistics.lastIndexedCommit,
    last_indexed_date: date(statistics.lastIndexedDate),
    ...(meta.sample ? { sample: true } : {}),
  };
}
