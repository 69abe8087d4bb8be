import {
  at8,
  at32,
  documentScore,
  documentWordScore,
  postingDocument,
  postingScore,
  put32,
  scoreCounts,
  sequence,
  sequenceStarts,
} from "./columns";

/**
 * The description search. Every document has a score, 0 when it is out of the race; the host asks for one query word
 * after the other, and a document that does not hold the word is out. Most of this is reading all scores in order, sixteen
 * at a time: that is faster than jumping between the documents of a list.
 */

/** Gives the documents of postings first..last what the current word is worth in them, or half of it, if that is more. */
export function addPostings(first: u32, last: u32, half: bool): void {
  const scores = documentWordScore;
  const documents = postingDocument;
  const points = postingScore;
  if (half) {
    for (let i = first; i < last; i++) raise(scores + at32(documents, i), (at8(points, i) + 1) >> 1);
  } else {
    for (let i = first; i < last; i++) raise(scores + at32(documents, i), at8(points, i));
  }
}

@inline
function raise(score: u32, least: u32): void {
  store<u8>(score, <u8>max(<u32>load<u8>(score), least));
}

/** Closes a word: documents that hold it get its points, all others are out. The first word lets all its documents in. */
export function closeWord(isFirst: bool, documents: u32): void {
  const none = i16x8.splat(0);
  for (let i: u32 = 0; i < documents; i += 16) {
    const points = v128.load(documentWordScore + i);
    v128.store(documentWordScore + i, none);
    const at = documentScore + (i << 1);
    const low = i16x8.extend_low_i8x16_u(points);
    const high = i16x8.extend_high_i8x16_u(points);
    if (isFirst) {
      v128.store(at, low);
      v128.store(at, high, 16);
    } else {
      v128.store(at, addWhereBoth(v128.load(at), low));
      v128.store(at, addWhereBoth(v128.load(at, 16), high), 16);
    }
  }
}

@inline
function addWhereBoth(scores: v128, points: v128): v128 {
  const none = i16x8.splat(0);
  const both = v128.and(v128.ne<i16>(scores, none), v128.ne<i16>(points, none));
  return v128.and(v128.add<i16>(scores, points), both);
}

/** Puts the documents out of the race that do not hold the stems one after the other. */
export function keepPhrase(documents: u32, stems: u32, length: u32): void {
  for (let i: u32 = 0; i < documents; i += 8) {
    if (!v128.any_true(v128.load(documentScore + (i << 1)))) continue;
    const end = min(i + 8, documents);
    for (let document = i; document < end; document++) {
      if (scoreOf(document) == 0 || holdsPhrase(document, stems, length)) continue;
      store<u16>(documentScore + (document << 1), 0);
    }
  }
}

function holdsPhrase(document: u32, stems: u32, length: u32): bool {
  const end = at32(sequenceStarts, document + 1);
  for (let start = at32(sequenceStarts, document); start + length <= end; start++) {
    let same: u32 = 0;
    while (same < length && at32(sequence, start + same) == at32(stems, same)) same++;
    if (same == length) return true;
  }
  return false;
}

/** Four sets of counters in turn: one set would wait for its own last store at every step. */
const COUNTER_SETS: u32 = 4;

/** Counts the documents of each score up to the largest possible, into `scoreCounts`. Returns how many there are in all. */
export function countScores(documents: u32, largestScore: u32): u32 {
  const setBytes = (largestScore + 1) << 2;
  const first = scoreCounts;
  const second = first + setBytes;
  const third = second + setBytes;
  const fourth = third + setBytes;
  memory.fill(first, 0, setBytes * COUNTER_SETS);
  // The scores behind the last document are zero.
  for (let i: u32 = 0; i < documents; i += 8) {
    const at = documentScore + (i << 1);
    if (!v128.any_true(v128.load(at))) continue;
    countScore(first, <u32>load<u16>(at));
    countScore(second, <u32>load<u16>(at, 2));
    countScore(third, <u32>load<u16>(at, 4));
    countScore(fourth, <u32>load<u16>(at, 6));
    countScore(first, <u32>load<u16>(at, 8));
    countScore(second, <u32>load<u16>(at, 10));
    countScore(third, <u32>load<u16>(at, 12));
    countScore(fourth, <u32>load<u16>(at, 14));
  }
  let total: u32 = 0;
  for (let score: u32 = 1; score <= largestScore; score++) {
    const sum = at32(first, score) + at32(second, score) + at32(third, score) + at32(fourth, score);
    put32(first, score, sum);
    total += sum;
  }
  return total;
}

@inline
function countScore(counts: u32, score: u32): void {
  put32(counts, score, at32(counts, score) + 1);
}

@inline
function scoreOf(document: u32): u32 {
  return <u32>load<u16>(documentScore + (document << 1));
}

/**
 * Puts the documents at places skip..skip+want into the page, the best score first, then in the order of their numbers.
 * Takes the counts of `countScores` and leaves something else there.
 */
export function takeDocuments(documents: u32, largestScore: u32, skip: u32, want: u32, page: u32): void {
  // The counts become the place of the first document of each score.
  const places = scoreCounts;
  let place: u32 = 0;
  let best: u32 = 0;
  let worst: u32 = 1;
  for (let score = largestScore; score > 0; score--) {
    const count = at32(places, score);
    put32(places, score, place);
    if (best == 0 && place + count > skip) best = score;
    if (place < skip + want && count > 0) worst = score;
    place += count;
  }
  if (best == worst) takeScore(documents, best, at32(places, best), skip, want, page);
  else takeScores(documents, best, worst, skip, want, page);
}

/** Puts the documents of one score, of which the first has the given place, where they belong. */
function takeScore(documents: u32, score: u32, place: u32, skip: u32, want: u32, page: u32): void {
  const wanted = i16x8.splat(<i16>score);
  const end = skip + want;
  for (let i: u32 = 0; i < documents && place < end; i += 16) {
    const at = documentScore + (i << 1);
    const low = v128.eq<i16>(v128.load(at), wanted);
    const high = v128.eq<i16>(v128.load(at, 16), wanted);
    let found = <u32>i8x16.bitmask(i8x16.narrow_i16x8_s(low, high));
    const count = <u32>popcnt(found);
    if (place + count <= skip) {
      place += count;
      continue;
    }
    for (; found != 0; found &= found - 1, place++) {
      if (place - skip < want) put32(page, place - skip, i + <u32>ctz(found));
    }
  }
}

/** The same for several scores at once. */
function takeScores(documents: u32, best: u32, worst: u32, skip: u32, want: u32, page: u32): void {
  const places = scoreCounts;
  const lowest = i16x8.splat(<i16>worst);
  const highest = i16x8.splat(<i16>best);
  for (let i: u32 = 0; i < documents; i += 16) {
    const at = documentScore + (i << 1);
    const low = inScores(v128.load(at), lowest, highest);
    const high = inScores(v128.load(at, 16), lowest, highest);
    let found = <u32>i8x16.bitmask(i8x16.narrow_i16x8_s(low, high));
    for (; found != 0; found &= found - 1) {
      const document = i + <u32>ctz(found);
      const score = scoreOf(document);
      const place = at32(places, score);
      put32(places, score, place + 1);
      if (place - skip < want) put32(page, place - skip, document);
    }
  }
}

@inline
function inScores(scores: v128, lowest: v128, highest: v128): v128 {
  return v128.and(v128.ge<u16>(scores, lowest), v128.le<u16>(scores, highest));
}
