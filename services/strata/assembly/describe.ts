import {
  at8,
  at32,
  documentScore,
  documentWordScore,
  documentWords,
  postingDocument,
  postingScore,
  postingStarts,
  put32,
  rankBits,
  scoreCounts,
  sequence,
  sequenceStarts,
} from "./columns";
import { takeBits } from "./select";

/**
 * The description search. The host asks for one query word after the other, the rarest first; a document stays in the
 * race while it has held every word so far.
 */

/**
 * Adds the documents of one form of the current word. `held` is the number of words asked before, `count` the length of
 * the list of documents that hold the current one. A form that only begins with the word counts half. Returns the new length.
 */
export function addPostings(word: u32, held: u32, half: bool, count: u32, list: u32): u32 {
  const end = at32(postingStarts, word + 1);
  const wordScores = documentWordScore;
  const words = documentWords;
  for (let i = at32(postingStarts, word); i < end; i++) {
    const document = at32(postingDocument, i);
    if (at8(words, document) != held) continue;
    let score = at8(postingScore, i);
    if (half) score = (score + 1) >> 1;
    const known = at8(wordScores, document);
    put32(list, count, document);
    count += <u32>(known == 0);
    store<u8>(wordScores + document, <u8>max(known, score));
  }
  return count;
}

/** Closes a word: its documents get its score and hold one word more. */
export function closeWord(list: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const document = at32(list, i);
    const score = documentScore + (document << 1);
    store<u16>(score, load<u16>(score) + <u16>at8(documentWordScore, document));
    store<u8>(documentWordScore + document, 0);
    store<u8>(documentWords + document, <u8>(at8(documentWords, document) + 1));
  }
}

/** Keeps the documents of the list that hold the stems one after the other. Returns the new length. */
export function keepPhrase(list: u32, count: u32, stems: u32, length: u32): u32 {
  let kept: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const document = at32(list, i);
    if (holdsPhrase(document, stems, length)) put32(list, kept++, document);
  }
  return kept;
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

/**
 * Puts the documents of the list at places skip..skip+want into the page, the best score first, then in the order of
 * their numbers. Returns how many.
 */
export function takeDocuments(
  list: u32,
  count: u32,
  documents: u32,
  largestScore: u32,
  skip: u32,
  want: u32,
  page: u32,
): u32 {
  const counts = scoreCounts;
  memory.fill(counts, 0, (largestScore + 1) << 2);
  for (let i: u32 = 0; i < count; i++) {
    const at = counts + ((<u32>load<u16>(documentScore + (at32(list, i) << 1))) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  let found: u32 = 0;
  for (let score = largestScore; score > 0 && found < want; score--) {
    const size = at32(counts, score);
    if (size == 0) continue;
    if (size <= skip) {
      skip -= size;
      continue;
    }
    found += takeScore(list, count, documents, score, skip, want - found, page + (found << 2));
    skip = 0;
  }
  return found;
}

function takeScore(list: u32, count: u32, documents: u32, score: u32, skip: u32, want: u32, page: u32): u32 {
  const bits = rankBits;
  memory.fill(bits, 0, ((documents >> 6) + 1) << 3);
  for (let i: u32 = 0; i < count; i++) {
    const document = at32(list, i);
    if (<u32>load<u16>(documentScore + (document << 1)) != score) continue;
    const at = bits + ((document >> 5) << 2);
    store<u32>(at, load<u32>(at) | (1 << (document & 31)));
  }
  return takeBits(bits, documents, 0, skip, want, page);
}

/** Forgets everything about the documents of the first word's list; all later lists are parts of it. */
export function clearDocuments(list: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const document = at32(list, i);
    store<u16>(documentScore + (document << 1), 0);
    store<u8>(documentWords + document, 0);
  }
}
