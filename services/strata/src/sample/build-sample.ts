import { readFileSync } from "node:fs";
import { writeIndex } from "../store/index.js";
import { sampleRanges, sampleWeeks } from "./make-sample.js";
import { parseSeed } from "./parse-seed.js";
import { SAMPLE_PATH } from "./sample-location.js";

/** Part of the build: node dist/sample/build-sample.js writes dist/sample/sample.strata. */

const seed = readFileSync(new URL("../../src/sample/seed.txt", import.meta.url), "utf8");
const newest = sampleWeeks().at(-1)!;
const { statistics, fileBytes } = await writeIndex(
  sampleRanges(parseSeed(seed)),
  {
    lastIndexedCommit: newest.commit,
    lastIndexedDate: newest.date,
    sample: true,
    notes: { about: "A sample written for strata: versions and months are approximate, commits are invented." },
  },
  SAMPLE_PATH,
);
console.log(
  `${SAMPLE_PATH}: ${statistics.totalRanges} ranges of ${statistics.uniqueNames} names, ${Math.round(fileBytes / 1024)} KiB`,
);
