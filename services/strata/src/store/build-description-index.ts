import type { RowTable } from "./build-rows.js";
import type { CollectedRecords } from "./collect-records.js";
import { compareCodePoints } from "./compare-code-points.js";
import { splitWords, stemWord } from "./description-words.js";
import { GrowingColumn } from "./growing-column.js";
import { descending, gather, groupStarts, sortByKeys } from "./sort-by-keys.js";

/**
 * The inverted index of the description search. A *document* is the newest version of one package: its name and
 * description. Documents are numbered by depth of the path, those seen last first, then short paths, so that among equal
 * scores the order is simply ascending and packages that are gone come after those that are still there.
 */
export interface DescriptionIndex {
  /** By document: its row. */
  readonly documentRow: Uint32Array;
  /** Distinct words and their distinct stems, sorted by code point. */
  readonly words: string[];
  readonly stems: string[];
  /** By stem: the words that have it, with a closing element in `stemWordStarts`. */
  readonly stemWords: Uint32Array;
  readonly stemWordStarts: Uint32Array;
  /** By word: the documents that hold it, ascending, and what the word is worth in each. */
  readonly postingStarts: Uint32Array;
  readonly postingDocument: Uint32Array;
  readonly postingScore: Uint8Array;
  /** By document: stems of its name, a gap, stems of its description: for phrases. */
  readonly sequenceStarts: Uint32Array;
  readonly sequence: Uint32Array;
}

/** Stands between name and description: no phrase crosses it. */
export const SEQUENCE_GAP = 0xffff_ffff;

/** What a word is worth in a document. A word that is the whole name beats any description. */
const SCORE = { wholeName: 8, inName: 5, firstInDescription: 1, largest: 15 } as const;
/** BM25's usual saturation and length normalisation, scaled to at most six points. */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;
const DESCRIPTION_POINTS = 3;

export function buildDescriptionIndex(
  records: CollectedRecords,
  table: RowTable,
  relevanceRanks: Uint32Array,
): DescriptionIndex {
  const documentRow = chooseDocuments(records, table, relevanceRanks);
  const texts = readDocuments(records, table, documentRow);
  const postings = scorePostings(texts);
  const order = sortByKeys(postings.word.length, [postings.word, postings.document]);
  const { wordStem, ...stemming } = stemWords(texts.words);
  const sequence = new Uint32Array(texts.sequence.length);
  for (let i = 0; i < sequence.length; i++) {
    const word = texts.sequence[i]!;
    sequence[i] = word === SEQUENCE_GAP ? SEQUENCE_GAP : wordStem[word]!;
  }
  return {
    documentRow,
    words: texts.words,
    ...stemming,
    postingStarts: groupStarts(gather(postings.word, order), texts.words.length),
    postingDocument: gather(postings.document, order),
    postingScore: Uint8Array.from(gather(postings.score, order)),
    sequenceStarts: texts.sequenceStarts,
    sequence,
  };
}

/** The newest version of each path: the highest in Nix order, then the one seen last, then the lowest id. */
function chooseDocuments(records: CollectedRecords, table: RowTable, relevanceRanks: Uint32Array): Uint32Array {
  const newest = new Uint32Array(records.attributePaths.length).fill(NONE);
  const isNewer = (row: number, than: number) => {
    const byVersion = table.versionClass[table.rowVersion[row]!]! - table.versionClass[table.rowVersion[than]!]!;
    if (byVersion !== 0) return byVersion > 0;
    return table.commitDateClass[table.rowLastCommit[row]!]! > table.commitDateClass[table.rowLastCommit[than]!]!;
  };
  for (let row = 0; row < table.rows; row++) {
    const path = table.entryAttributePath[table.rowEntry[row]!]!;
    if (newest[path] === NONE || isNewer(row, newest[path]!)) newest[path] = row;
  }
  const depth = Uint32Array.from(records.attributePaths, (path) => path.split(".").length);
  const lastSeen = gather(table.commitDateClass, gather(table.rowLastCommit, newest));
  const order = sortByKeys(newest.length, [depth, descending(lastSeen), gather(relevanceRanks, newest)]);
  return gather(newest, order);
}

const NONE = 0xffff_ffff;

interface DocumentTexts {
  readonly words: string[];
  /** Word numbers of all documents end to end: name, gap, description. */
  readonly sequence: Uint32Array;
  readonly sequenceStarts: Uint32Array;
}

function readDocuments(records: CollectedRecords, table: RowTable, documentRow: Uint32Array): DocumentTexts {
  const wordNumbers = new Map<string, number>();
  const unsorted: string[] = [];
  const sequence = new GrowingColumn();
  const sequenceStarts = new Uint32Array(documentRow.length + 1);
  const { texts, numbers } = records.details.description;
  const addWords = (text: string) => {
    for (const word of splitWords(text)) {
      let number = wordNumbers.get(word);
      if (number === undefined) {
        number = unsorted.length;
        wordNumbers.set(word, number);
        unsorted.push(word);
      }
      sequence.push(number);
    }
  };
  for (let document = 0; document < documentRow.length; document++) {
    const row = documentRow[document]!;
    const description = JSON.parse(texts[numbers[table.rowDetail[row]!]!]!) as string | null;
    addWords(records.names[table.entryName[table.rowEntry[row]!]!]!);
    sequence.push(SEQUENCE_GAP);
    if (description !== null) addWords(description);
    sequenceStarts[document + 1] = sequence.length;
  }
  return { ...sortWords(unsorted, sequence.toColumn()), sequenceStarts };
}

function sortWords(unsorted: string[], sequence: Uint32Array): { words: string[]; sequence: Uint32Array } {
  const order = Array.from(unsorted.keys()).sort((a, b) => compareCodePoints(unsorted[a]!, unsorted[b]!));
  const newNumbers = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) newNumbers[order[i]!] = i;
  return {
    words: order.map((number) => unsorted[number]!),
    sequence: sequence.map((number) => (number === SEQUENCE_GAP ? SEQUENCE_GAP : newNumbers[number]!)),
  };
}

function stemWords(words: readonly string[]) {
  const wordStems = words.map(stemWord);
  const stems = [...new Set(wordStems)].sort(compareCodePoints);
  const numbers = new Map(stems.map((stem, number) => [stem, number]));
  const wordStem = Uint32Array.from(wordStems, (stem) => numbers.get(stem)!);
  const stemWords = sortByKeys(words.length, [wordStem]);
  return { stems, wordStem, stemWords, stemWordStarts: groupStarts(gather(wordStem, stemWords), stems.length) };
}

/** One posting for each different word of each document. */
function scorePostings(texts: DocumentTexts) {
  const word = new GrowingColumn();
  const document = new GrowingColumn();
  const score = new GrowingColumn();
  const documents = texts.sequenceStarts.length - 1;
  const averageLength = Math.max(1, texts.sequence.length / Math.max(1, documents));
  for (let number = 0; number < documents; number++) {
    const all = texts.sequence.subarray(texts.sequenceStarts[number], texts.sequenceStarts[number + 1]);
    for (const [found, points] of scoreDocument(all, averageLength)) {
      word.push(found);
      document.push(number);
      score.push(points);
    }
  }
  return { word: word.toColumn(), document: document.toColumn(), score: score.toColumn() };
}

function scoreDocument(all: Uint32Array, averageLength: number): Map<number, number> {
  const gap = all.indexOf(SEQUENCE_GAP);
  const name = all.subarray(0, gap);
  const description = all.subarray(gap + 1);
  const counts = new Map<number, number>();
  for (const word of description) counts.set(word, (counts.get(word) ?? 0) + 1);
  const lengthFactor = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * description.length) / averageLength);
  const scores = new Map<number, number>();
  for (const [word, count] of counts) {
    const saturated = (count * (SATURATION + 1)) / (count + lengthFactor);
    scores.set(word, Math.max(1, Math.floor(DESCRIPTION_POINTS * saturated)));
  }
  if (description.length > 0) scores.set(description[0]!, scores.get(description[0]!)! + SCORE.firstInDescription);
  for (const word of new Set(name)) {
    scores.set(word, (scores.get(word) ?? 0) + (name.length === 1 ? SCORE.wholeName : SCORE.inName));
  }
  for (const [word, points] of scores) scores.set(word, Math.min(SCORE.largest, points));
  return scores;
}
