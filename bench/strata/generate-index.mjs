// Writes a generated index: node bench/strata/generate-index.mjs [--ranges 1800000] [--seed 1] [--out bench/results/strata/index.strata]
import { parseArgs } from "node:util";
import { writeIndex } from "../../services/strata/dist/store/index.js";
import { generateRecords } from "./generate-records.mjs";

const { values } = parseArgs({
  options: {
    ranges: { type: "string", default: "1800000" },
    seed: { type: "string", default: "1" },
    out: { type: "string", default: "bench/results/strata/index.strata" },
  },
});
const started = performance.now();
const header = await writeIndex(
  generateRecords({ ranges: Number(values.ranges), seed: Number(values.seed) }),
  { lastIndexedCommit: null, lastIndexedDate: null, notes: { generated: `seed ${values.seed}` } },
  values.out,
  {
    onProgress: ({ stage, records }) => {
      if (stage !== "reading" || records % 200_000 === 0) console.error(`${stage} ${records}`);
    },
  },
);
const { totalRanges, uniqueNames, uniqueVersions } = header.statistics;
console.log(
  `${values.out}: ${totalRanges} ranges, ${uniqueNames} names, ${uniqueVersions} versions, ` +
    `${Math.round(header.fileBytes / 1e6)} MB in ${((performance.now() - started) / 1000).toFixed(1)} s`,
);
