import { compareCodePoints } from "../store/compare-code-points.js";
import { type IndexMeta, type OpenIndex, type RangeRecord, readRecords, toRangeRecord } from "../store/index.js";

/**
 * The difference between two indexes, written as text, one line for each step through the old index's records in the order of `canonicalRecords`:
 *
 *     {"format":1,"from":…,"to":…,"meta":…}   first line
 *     =120        the next 120 records are the same
 *     >120 [hash,date]   the next 120 records were last seen at that commit instead
 *     -3          the next 3 records are gone
 *     ~{…}        the next record, with these fields changed
 *     +{…}        a new record
 *
 * A day changes the last commit of everything that is alive and little else, so a day is some kilobytes. The index is made again from the records by the same
 * writer, whose result depends on them alone; the manifest's hash says whether it came out the same.
 */

const DELTA_FORMAT = 1;

export class DeltaError extends Error {
  override name = "DeltaError";
}

interface DeltaHeader {
  format: number;
  /** Fingerprints. */
  from: string;
  to: string;
  meta: IndexMeta;
}

/** What the writer has to be told to make this very index again. */
function metaOf(index: OpenIndex): IndexMeta {
  const { statistics, meta } = index.header;
  return { ...meta, lastIndexedCommit: statistics.lastIndexedCommit, lastIndexedDate: statistics.lastIndexedDate };
}

/** The lines that lead from one index to the other. */
export function* writeDelta(from: OpenIndex, to: OpenIndex): Generator<string> {
  const header: DeltaHeader = {
    format: DELTA_FORMAT,
    from: from.header.fingerprint,
    to: to.header.fingerprint,
    meta: metaOf(to),
  };
  yield JSON.stringify(header);
  yield* joinRepeated(comparePackages(from, to));
}

/** The records of the new index, from those of the old one and the lines. */
export async function* applyDelta(
  from: OpenIndex,
  lines: AsyncIterable<string>,
): AsyncGenerator<RangeRecord, void, undefined> {
  const old = canonicalRecords(from);
  const next = (): RangeRecord => {
    const { done, value } = old.next();
    if (done) {
      throw new DeltaError("The delta goes past the end of the index it is applied to.");
    }
    return value;
  };
  for await (const line of lines) {
    const rest = line.slice(1);
    switch (line[0]) {
      case "=":
        for (let left = countOf(rest); left > 0; left--) {
          yield next();
        }
        break;
      case ">": {
        const space = rest.indexOf(" ");
        const [lastCommitHash, lastCommitDate] = JSON.parse(rest.slice(space)) as [string, number];
        for (let left = countOf(rest.slice(0, space)); left > 0; left--) {
          yield { ...next(), lastCommitHash, lastCommitDate };
        }
        break;
      }
      case "-":
        for (let left = countOf(rest); left > 0; left--) {
          next();
        }
        break;
      case "~":
        yield { ...next(), ...(JSON.parse(rest) as Partial<RangeRecord>) };
        break;
      case "+":
        yield JSON.parse(rest) as RangeRecord;
        break;
      default:
        throw new DeltaError(`The delta holds a line that means nothing: "${line.slice(0, 40)}".`);
    }
  }
  if (!old.next().done) {
    throw new DeltaError("The delta ends before the index it is applied to does.");
  }
}

/** The first line of a delta, checked against the index it is to be applied to. */
export function readDeltaHeader(line: string, fingerprint: string): DeltaHeader {
  const header = JSON.parse(line) as DeltaHeader;
  if (header.format !== DELTA_FORMAT) {
    throw new DeltaError(`The delta has format ${header.format}; this program reads format ${DELTA_FORMAT}.`);
  }
  if (header.from !== fingerprint) {
    throw new DeltaError(`The delta is for the index ${header.from}, not for ${fingerprint}.`);
  }
  return header;
}

function countOf(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count <= 0) {
    throw new DeltaError(`The delta holds the count "${text.slice(0, 20)}".`);
  }
  return count;
}

/** All records by attribute path, version and first commit: an order in which a range that grows stays where it was. */
function* canonicalRecords(index: OpenIndex): Generator<RangeRecord, undefined, undefined> {
  for (const records of packagesOf(index)) {
    yield* records;
  }
}

/** The records of one attribute path after the other. */
function* packagesOf(index: OpenIndex): Generator<RangeRecord[]> {
  let group: RangeRecord[] = [];
  for (const stored of readRecords(index)) {
    const record = toRangeRecord(stored);
    if (group.length > 0 && group[0]!.attributePath !== record.attributePath) {
      yield group.sort(compareRecords);
      group = [];
    }
    group.push(record);
  }
  if (group.length > 0) {
    yield group.sort(compareRecords);
  }
}

function compareRecords(a: RangeRecord, b: RangeRecord): number {
  return (
    compareCodePoints(a.version, b.version) ||
    a.firstCommitDate - b.firstCommitDate ||
    compareCodePoints(a.firstCommitHash, b.firstCommitHash) ||
    compareCodePoints(JSON.stringify(a), JSON.stringify(b))
  );
}

/** One line for each record, unmerged. */
function* comparePackages(from: OpenIndex, to: OpenIndex): Generator<string> {
  const olds = packagesOf(from);
  const news = packagesOf(to);
  let old = olds.next();
  let new_ = news.next();
  while (!old.done || !new_.done) {
    const order = old.done
      ? 1
      : new_.done
        ? -1
        : compareCodePoints(old.value[0]!.attributePath, new_.value[0]!.attributePath);
    yield* compareRanges(order <= 0 && !old.done ? old.value : [], order >= 0 && !new_.done ? new_.value : []);
    if (order <= 0) {
      old = olds.next();
    }
    if (order >= 0) {
      new_ = news.next();
    }
  }
}

/** The ranges of one package: those of one version are paired in their order. */
function* compareRanges(olds: RangeRecord[], news: RangeRecord[]): Generator<string> {
  let at = 0;
  for (const old of olds) {
    while (at < news.length && compareCodePoints(news[at]!.version, old.version) < 0) {
      yield `+${JSON.stringify(news[at++])}`;
    }
    if (at < news.length && news[at]!.version === old.version) {
      yield compareRange(old, news[at++]!);
    } else {
      yield "-1";
    }
  }
  while (at < news.length) {
    yield `+${JSON.stringify(news[at++])}`;
  }
}

function compareRange(old: RangeRecord, new_: RangeRecord): string {
  const changes: Record<string, unknown> = {};
  for (const key of Object.keys(new_) as (keyof RangeRecord)[]) {
    if (JSON.stringify(new_[key]) !== JSON.stringify(old[key])) {
      changes[key] = new_[key];
    }
  }
  const changed = Object.keys(changes);
  if (changed.length === 0) {
    return "=1";
  }
  if (changed.every((key) => key === "lastCommitHash" || key === "lastCommitDate")) {
    return `>1 ${JSON.stringify([new_.lastCommitHash, new_.lastCommitDate])}`;
  }
  return `~${JSON.stringify(changes)}`;
}

/** Sums up neighbouring lines that say the same of one record each. */
function* joinRepeated(lines: Iterable<string>): Generator<string> {
  let held: { kind: string; tail: string; count: number } | null = null;
  const show = ({ kind, tail, count }: NonNullable<typeof held>) => `${kind}${count}${tail}`;
  for (const line of lines) {
    const kind = line[0]!;
    if (kind === "+" || kind === "~") {
      if (held !== null) {
        yield show(held);
        held = null;
      }
      yield line;
      continue;
    }
    const tail = line.slice(2);
    if (held !== null && held.kind === kind && held.tail === tail) {
      held.count++;
      continue;
    }
    if (held !== null) {
      yield show(held);
    }
    held = { kind, tail, count: 1 };
  }
  if (held !== null) {
    yield show(held);
  }
}
