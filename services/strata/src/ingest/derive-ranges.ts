import type { RangeRecord } from "../store/range-record.js";
import { type Channel, compareSnapshots, type Observations, type Snapshot } from "./observations.js";
import type { RecordTable } from "./record-table.js";

/**
 * Turns observations into version ranges. The rules:
 *
 * 1. In one channel, the snapshots with (attribute path, version) form runs; between two runs lies at least one snapshot of that channel without it.
 * 2. Runs of different channels that share a moment are one range: the version was there all along.
 * 3. Where they leave a gap, the gap is real only if it was seen: some channel that has the version before and after the gap was observed inside it, without it.
 *    A gap that only says "this channel stopped, that one started" is closed.
 * 4. A range's facts (description, licence and so on) are those of its latest observation.
 *
 * All of it is a function of the set of observations; the ranges come sorted by attribute path, version (by code unit) and time.
 */

/** A run of one channel, with its ends as places in the order of all moments. */
interface Run {
  version: number;
  channel: number;
  /** Positions in the channel's own order. */
  firstAt: number;
  lastAt: number;
  /** Moments, see Timeline. */
  start: number;
  end: number;
  record: number;
}

export function* deriveRanges(observations: Observations): Generator<RangeRecord> {
  const channels = observations.channels;
  const timeline = new Timeline(channels);
  const { records } = observations;
  const versionRank = rankStrings(records.dictionaries.version.strings);
  const byAttribute = groupRuns(channels, records);
  const attributes = sortedIndexes(records.dictionaries.attributePath.strings);
  for (const attribute of attributes) {
    const runs = byAttribute.read(attribute, timeline, versionRank);
    for (let from = 0; from < runs.length; ) {
      let to = from + 1;
      while (to < runs.length && runs[to]!.version === runs[from]!.version) {
        to++;
      }
      for (const range of mergeRuns(runs.slice(from, to), timeline)) {
        const first = timeline.moments[range.start]!;
        const last = timeline.moments[range.end]!;
        yield {
          ...records.read(range.record),
          firstCommitHash: first.commit,
          firstCommitDate: first.date,
          lastCommitHash: last.commit,
          lastCommitDate: last.date,
        };
      }
      from = to;
    }
  }
}

/** All snapshots of all channels in one order of time; the same commit at the same second in two channels is one moment. */
class Timeline {
  readonly moments: Pick<Snapshot, "commit" | "date">[] = [];
  /** [channel][position in the channel] → moment; ascending. */
  readonly momentAt: Int32Array[];

  constructor(readonly channels: Channel[]) {
    const all = channels.flatMap((channel, number) =>
      channel.order.map((snapshot, at) => ({ number, at, snapshot: channel.snapshots[snapshot]! })),
    );
    all.sort((a, b) => compareSnapshots(a.snapshot, b.snapshot));
    this.momentAt = channels.map((channel) => new Int32Array(channel.order.length));
    for (const { number, at, snapshot } of all) {
      const latest = this.moments.at(-1);
      if (latest === undefined || compareSnapshots(latest, snapshot) !== 0) {
        this.moments.push({ commit: snapshot.commit, date: snapshot.date });
      }
      this.momentAt[number]![at] = this.moments.length - 1;
    }
  }

  /** Was the channel observed strictly between these moments? */
  observedBetween(channel: number, after: number, before: number): boolean {
    const moments = this.momentAt[channel]!;
    let low = 0;
    let high = moments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (moments[middle]! <= after) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < moments.length && moments[low]! < before;
  }
}

/** Merges the runs of one (attribute path, version); they are sorted by channel, then by position. */
function mergeRuns(runs: Run[], timeline: Timeline): Run[] {
  const joined = joinAdjacent(runs);
  if (joined.length === 1) {
    return joined;
  }
  const byStart = [...joined].sort((a, b) => a.start - b.start || a.channel - b.channel);
  const ranges: Run[] = [];
  let current = { ...byStart[0]! };
  for (const run of byStart.slice(1)) {
    if (run.start > current.end && gapWasSeen(joined, current.end, run.start, timeline)) {
      ranges.push(current);
      current = { ...run };
      continue;
    }
    // At the same moment the channel that comes first by name speaks: any fixed choice will do, but it must be fixed.
    if (run.end > current.end || (run.end === current.end && run.channel < current.channel)) {
      current.record = run.record;
      current.channel = run.channel;
    }
    current.end = Math.max(current.end, run.end);
  }
  ranges.push(current);
  return ranges;
}

/** A record whose description changes makes two runs of one stay: joins runs of a channel that follow each other without a snapshot between them. */
function joinAdjacent(runs: Run[]): Run[] {
  const joined: Run[] = [];
  for (const run of runs) {
    const previous = joined.at(-1);
    if (previous !== undefined && previous.channel === run.channel && previous.lastAt + 1 === run.firstAt) {
      previous.lastAt = run.lastAt;
      previous.end = run.end;
      previous.record = run.record;
    } else {
      joined.push({ ...run });
    }
  }
  return joined;
}

function gapWasSeen(runs: Run[], gapStart: number, gapEnd: number, timeline: Timeline): boolean {
  for (let at = 1; at < runs.length; at++) {
    const earlier = runs[at - 1]!;
    const later = runs[at]!;
    const straddles = earlier.channel === later.channel && earlier.end <= gapStart && later.start >= gapEnd;
    if (straddles && timeline.observedBetween(earlier.channel, gapStart, gapEnd)) {
      return true;
    }
  }
  return false;
}

/** Runs of all channels, in buckets by attribute: a counting sort, as there are millions of them. */
function groupRuns(channels: Channel[], records: RecordTable) {
  const attributeOf = records.columns.attributePath.view();
  const versionOf = records.columns.version.view();
  const bucketStart = new Int32Array(records.dictionaries.attributePath.strings.length + 1);
  let total = 0;
  for (const channel of channels) {
    for (const record of channel.runRecord.view()) {
      bucketStart[attributeOf[record]! + 1]!++;
      total++;
    }
  }
  for (let at = 1; at < bucketStart.length; at++) {
    bucketStart[at]! += bucketStart[at - 1]!;
  }
  const filled = bucketStart.slice();
  const channelOf = new Uint16Array(total);
  const runOf = new Int32Array(total);
  channels.forEach((channel, number) => {
    const recordOf = channel.runRecord.view();
    for (let run = 0; run < recordOf.length; run++) {
      const slot = filled[attributeOf[recordOf[run]!]!]!++;
      channelOf[slot] = number;
      runOf[slot] = run;
    }
  });

  const read = (attribute: number, timeline: Timeline, versionRank: Int32Array): Run[] => {
    const runs: Run[] = [];
    for (let slot = bucketStart[attribute]!; slot < bucketStart[attribute + 1]!; slot++) {
      const number = channelOf[slot]!;
      const channel = channels[number]!;
      const run = runOf[slot]!;
      const record = channel.runRecord.get(run);
      const firstAt = channel.position[channel.runFirst.get(run)]!;
      const lastAt = channel.position[channel.runLast.get(run)]!;
      const start = timeline.momentAt[number]![firstAt]!;
      const end = timeline.momentAt[number]![lastAt]!;
      runs.push({ version: versionOf[record]!, channel: number, firstAt, lastAt, start, end, record });
    }
    return runs.sort(
      (a, b) => versionRank[a.version]! - versionRank[b.version]! || a.channel - b.channel || a.firstAt - b.firstAt,
    );
  };
  return { read };
}

/** The numbers of a dictionary's strings (without 0, which is no string) in the order of the strings. */
function sortedIndexes(strings: string[]): number[] {
  const indexes = strings.map((_, index) => index).slice(1);
  return indexes.sort((a, b) => (strings[a]! < strings[b]! ? -1 : 1));
}

function rankStrings(strings: string[]): Int32Array {
  const ranks = new Int32Array(strings.length);
  sortedIndexes(strings).forEach((index, rank) => {
    ranks[index] = rank + 1;
  });
  return ranks;
}
