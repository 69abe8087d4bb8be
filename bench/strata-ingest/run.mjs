// How fast package lists become history: `node bench/strata-ingest/run.mjs [snapshots] [folder with real nix-env-*.json.br files]`.
// Needs a build. Decompression is included where the table says so; it runs on another core than the reading.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { IngestSession } from "../../services/strata/dist/ingest/ingest-session.js";
import { openPackageList } from "../../services/strata/dist/ingest/read-snapshot.js";
import { compress, snapshotSeries } from "./make-snapshot.mjs";

const SNAPSHOTS = Number(process.argv[2] ?? 12);
const REAL = process.argv[3];
/** Ten years of a channel. */
const TEN_YEARS = 4000;
const CHUNK = 1 << 20;
const DAY = 24 * 60 * 60;

const rows = [];
const folder = mkdtempSync(join(tmpdir(), "strata-bench-"));

async function* pieces(bytes) {
  for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
}

async function measure(name, bytes, work) {
  const cpuBefore = process.cpuUsage();
  const started = performance.now();
  const result = await work();
  const seconds = (performance.now() - started) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  rows.push({
    what: name,
    "JSON MB": (bytes / 1e6).toFixed(1),
    seconds: seconds.toFixed(2),
    "CPU s": ((cpu.user + cpu.system) / 1e6).toFixed(2),
    "MB/s": bytes === 0 ? "" : (bytes / 1e6 / seconds).toFixed(0),
  });
  return { result, seconds };
}

function open(name) {
  return new IngestSession({ indexPath: join(folder, name), force: true, sentinels: [], log: () => {} });
}

const source = (day, chunks) => ({
  channel: "bench",
  commit: day.toString(16).padStart(40, "0"),
  date: Date.UTC(2020, 0, 1) / 1000 + day * DAY,
  open: () => chunks,
});

async function syntheticSeries() {
  const series = snapshotSeries();
  const session = open("synthetic");
  let json = series.next();
  writeFileSync(join(folder, "first.json.br"), compress(json));
  await measure("first snapshot, 144 k packages, decompressing", json.length, () =>
    session.ingest(source(0, openPackageList(join(folder, "first.json.br")))),
  );
  let total = 0;
  for (let day = 1; day <= SNAPSHOTS; day++) {
    json = series.next();
    const path = join(folder, "next.json.br");
    writeFileSync(path, compress(json));
    const { seconds } = await measure(`snapshot ${day + 1}, mostly unchanged, decompressing`, json.length, () =>
      session.ingest(source(day, openPackageList(path))),
    );
    total += seconds;
    if (day === SNAPSHOTS) {
      await measure("the same, from memory (no decompression)", json.length, () =>
        session.ingest(source(day + 1, pieces(json))),
      );
    }
  }
  await measure("saving the observations", 0, async () => session.save());
  await measure("writing the index", 0, () => session.writeIndex());
  session.close();
  return { rate: SNAPSHOTS / total, records: session.observations.records.size };
}

async function realLists() {
  if (REAL === undefined || !existsSync(REAL)) return;
  const session = open("real");
  for (const file of readdirSync(REAL)
    .filter((name) => /^nix-env-.*\.json\.br$/.test(name))
    .sort()) {
    let bytes = 0;
    const counted = (async function* () {
      for await (const chunk of openPackageList(join(REAL, file))) {
        bytes += chunk.length;
        yield chunk;
      }
    })();
    const day = rows.length + 100;
    await measure(`real: ${file}, first time`, 0, () => session.ingest(source(day, counted)));
    const row = rows.at(-1);
    row["JSON MB"] = (bytes / 1e6).toFixed(1);
    row["MB/s"] = (bytes / 1e6 / Number(row.seconds)).toFixed(0);
    await measure(`real: ${file}, again unchanged`, bytes, () =>
      session.ingest(source(day + 1000, openPackageList(join(REAL, file)))),
    );
  }
  await measure("real: writing the index", 0, () => session.writeIndex());
  session.close();
}

try {
  const { rate, records } = await syntheticSeries();
  await realLists();
  console.table(rows);
  console.log(
    `${rate.toFixed(2)} snapshots/s over ${SNAPSHOTS} mostly unchanged snapshots (${records} distinct records).`,
  );
  console.log(
    `Ten years (${TEN_YEARS} snapshots of today's size) would take ${(TEN_YEARS / rate / 60).toFixed(0)} minutes, downloads apart.`,
  );
  console.log(
    `${cpus().length} × ${cpus()[0].model}, Node ${process.versions.node}, index ${(statSync(join(folder, "synthetic")).size / 1e6).toFixed(0)} MB`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
