// Prints the records of an index as JSON lines: node bench/strata/print-records.mjs INDEX
import { once } from "node:events";
import { openIndex, readRecords, toRangeRecord } from "../../services/strata/dist/store/index.js";

let lines = [];
const flush = async () => {
  if (!process.stdout.write(`${lines.join("\n")}\n`)) await once(process.stdout, "drain");
  lines = [];
};
for (const record of readRecords(await openIndex(process.argv[2]))) {
  lines.push(JSON.stringify(toRangeRecord(record)));
  if (lines.length === 5000) await flush();
}
if (lines.length > 0) await flush();
