import type { RangeRecord } from "./range-record.js";

/** 9999-12-31T23:59:59Z: later dates do not fit the 20 characters of a timestamp. */
const LATEST_DATE = 253_402_300_799;
/** One record must fit the rendering buffer of the query engine many times over; real records are below 10 kB. */
const LONGEST_RECORD = 256 * 1024;
const COMMIT_HASH = /^[0-9a-f]{40}$/;

/** A record the index cannot hold; the message names the record, the field, the value and the rule. */
export class InvalidRecordError extends Error {
  override readonly name = "InvalidRecordError";
}

function refuse(record: RangeRecord, field: keyof RangeRecord, rule: string): never {
  const value = JSON.stringify(record[field])?.slice(0, 120);
  throw new InvalidRecordError(
    `Record '${String(record.attributePath).slice(0, 120)}' version '${String(record.version).slice(0, 60)}': ` +
      `${field} is ${value}, but ${rule}.`,
  );
}

function checkText(record: RangeRecord, field: "attributePath" | "name" | "version", mayBeEmpty: boolean): number {
  const value: unknown = record[field];
  if (typeof value !== "string") refuse(record, field, "it must be a string");
  if (!mayBeEmpty && value === "") refuse(record, field, "it must not be empty");
  if (value.includes("\0")) refuse(record, field, "it must not hold a NUL character");
  return value.length;
}

function checkOptionalText(record: RangeRecord, field: "description" | "license" | "homepage" | "sourcePath"): number {
  const value: unknown = record[field];
  if (value === null) return 4;
  if (typeof value !== "string") refuse(record, field, "it must be a string or null");
  return value.length;
}

function checkList(record: RangeRecord, field: "maintainers" | "platforms" | "knownVulnerabilities"): number {
  const value: unknown = record[field];
  if (value === null) return 4;
  if (!Array.isArray(value)) refuse(record, field, "it must be a list of strings or null");
  let length = 2;
  for (const item of value) {
    if (typeof item !== "string") refuse(record, field, "every element must be a string");
    length += item.length + 3;
  }
  return length;
}

/** Throws an InvalidRecordError for anything the file format or the API's rules cannot express. */
export function checkRecord(record: RangeRecord): void {
  const length =
    checkText(record, "attributePath", false) +
    checkText(record, "name", false) +
    checkText(record, "version", true) +
    checkOptionalText(record, "description") +
    checkOptionalText(record, "license") +
    checkOptionalText(record, "homepage") +
    checkOptionalText(record, "sourcePath") +
    checkList(record, "maintainers") +
    checkList(record, "platforms") +
    checkList(record, "knownVulnerabilities");
  if (length > LONGEST_RECORD) {
    refuse(record, "attributePath", `the whole record has ${length} characters and at most ${LONGEST_RECORD} are kept`);
  }
  for (const field of ["firstCommitHash", "lastCommitHash"] as const) {
    if (!COMMIT_HASH.test(record[field])) refuse(record, field, "it must be 40 lower-case hex digits");
  }
  for (const field of ["firstCommitDate", "lastCommitDate"] as const) {
    const date = record[field];
    if (!Number.isInteger(date) || date < 0 || date > LATEST_DATE) {
      refuse(record, field, `it must be whole Unix seconds between 0 and ${LATEST_DATE}`);
    }
  }
  if (record.lastCommitDate < record.firstCommitDate) {
    refuse(record, "lastCommitDate", `it must not be before firstCommitDate (${record.firstCommitDate})`);
  }
}
