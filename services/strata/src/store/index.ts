export { InvalidRecordError } from "./check-record.js";
export type { IndexHeader } from "./file-format.js";
export { IndexFileError } from "./index-file-error.js";
export { type OpenIndex, openIndex, readIndexHeader } from "./open-index.js";
export type { IndexMeta, RangeRecord } from "./range-record.js";
export { readRecords, toRangeRecord } from "./read-records.js";
export { type WriteIndexOptions, writeIndex } from "./write-index.js";
