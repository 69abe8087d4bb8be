import { rm } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openIndex, type RangeRecord, readRecords, writeIndex } from "../store/index.js";
import { makeFolder, NO_META } from "../testing/make-records.js";
import { ReferenceIndex } from "../testing/reference-index.js";
import { PackageIndex } from "./package-index.js";
import type { Planning } from "./planning.js";
import type { SearchQuery, SortName } from "./search-packages.js";

let folder: string;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Few different pieces, so that paths, names, versions and dates collide all the time. */
const piece = fc.constantFrom(
  "a",
  "ab",
  "py",
  "Py",
  "x-y",
  "a_b",
  "é",
  "日本",
  "😀",
  '"q"',
  "b\\c",
  "3",
  "lib",
  "A",
  "z+",
);
const path = fc
  .array(piece, { minLength: 1, maxLength: 3 })
  .chain((parts) => fc.constantFrom(".", "-", "").map((joint) => parts.join(joint)));
const version = fc.oneof(
  fc.constantFrom(
    "1.0",
    "1-0",
    "1.00",
    "1.0pre",
    "1.0rc1",
    "1.10",
    "1.9",
    "",
    "pre",
    "2147483648",
    "é",
    "V1",
    "v1",
    "3.11.0",
  ),
  fc
    .array(fc.constantFrom("1", "2", "10", ".", "-", "pre", "a", "rc"), { maxLength: 5 })
    .map((parts) => parts.join("")),
);
const words = fc
  .array(
    fc.constantFrom("library", "libraries", "Parser", "json", "naïve", "naive", "the", "parsing", "résumé", "a", "C++"),
    {
      maxLength: 5,
    },
  )
  .map((parts) => parts.join(" "));
const date = fc.integer({ min: 1, max: 6 }).map((day) => 1_500_000_000 + day * 86_400);
const hash = fc.constantFrom("0", "1", "f").map((digit) => digit.repeat(40));
const list = fc.option(fc.array(fc.constantFrom("m1", 'm"2', "日"), { maxLength: 2 }), { nil: null });

const record: fc.Arbitrary<RangeRecord> = fc
  .record({
    attributePath: path,
    name: path,
    version,
    description: fc.option(words, { nil: null }),
    license: fc.constantFrom(null, "MIT", "mit", "Apache-2.0", "MIT, GPL-3.0"),
    firstCommitHash: hash,
    firstCommitDate: date,
    lastCommitHash: hash,
    lastCommitDate: date,
    homepage: fc.constantFrom(null, "https://é.org/\t"),
    maintainers: list,
    platforms: list,
    sourcePath: fc.constantFrom(null, "a/b.nix"),
    knownVulnerabilities: fc.constantFrom(null, [], ["CVE-1"]),
  })
  .map((given) => ({
    ...given,
    firstCommitDate: Math.min(given.firstCommitDate, given.lastCommitDate),
    lastCommitDate: Math.max(given.firstCommitDate, given.lastCommitDate),
  }));

const query: fc.Arbitrary<SearchQuery> = fc.record({
  q: fc.oneof(piece, path, fc.constantFrom("a", ".", "-", "P", "nothing")),
  exact: fc.boolean(),
  version: fc.option(fc.oneof(version, fc.constantFrom("1", "V", "3.1")), { nil: null }),
  license: fc.constantFrom(null, null, "mit", "GPL", "", "none"),
  sort: fc.constantFrom<SortName>("relevance", "date", "version", "name"),
  reverse: fc.boolean(),
  limit: fc.constantFrom(0, 1, 2, 5, 1000),
  offset: fc.constantFrom(0, 1, 3, 10, 2 ** 53 - 1),
});

/** Any costs at all: the plan changes, the page may not. */
const cost = fc.constantFrom(0, 1, 1000);
const planning: fc.Arbitrary<Planning> = fc.record({
  costs: fc.record({
    walk: cost,
    seek: cost,
    sample: cost,
    scatterEntry: cost,
    scatterVersion: cost,
    countEntry: cost,
    countVersion: cost,
  }),
  shapeRows: fc.constantFrom(1, 4, 32_768),
  broadShare: fc.constantFrom(0, 16, 1000),
  sampleEvery: fc.constantFrom(1, 3, 512),
  blockBits: fc.constantFrom(1, 2, 10),
});

async function openBoth(records: readonly RangeRecord[], planned?: Planning) {
  const file = join(folder, "property.strata");
  await writeIndex(records, NO_META, file);
  const stored = [...readRecords(await openIndex(file))];
  return { engine: await PackageIndex.open(file, planned), reference: new ReferenceIndex(stored), stored };
}

const parse = (bytes: Buffer) => JSON.parse(bytes.toString("utf8"));
const byContent = (a: RangeRecord, b: RangeRecord) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

describe("the engine against the plain implementation", () => {
  it("gives back every record that was written, each with an id of its own", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 30 }), async (records) => {
        const { stored } = await openBoth(records);
        expect(stored.map(({ id }) => id)).toEqual(stored.map((_, i) => i + 1));
        const contents = stored.map(({ id: _, ...content }) => content);
        expect(contents.sort(byContent)).toEqual([...records].sort(byContent));
      }),
      { numRuns: 60 },
    );
  });

  it("searches alike: totals, pages, every order, every filter", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { maxLength: 60 }),
        fc.array(query, { minLength: 20, maxLength: 40 }),
        fc.option(planning, { nil: undefined }),
        async (records, queries, planned) => {
          const { engine, reference } = await openBoth(records, planned);
          for (const asked of queries) {
            const answer = parse(engine.search(asked));
            const expected = reference.search(asked);
            expect(
              { total: answer.meta.total, ids: answer.data.map(({ id }: { id: number }) => id) },
              JSON.stringify(asked),
            ).toEqual(expected);
            expect(answer.meta.has_more).toBe(asked.offset + expected.ids.length < expected.total);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("searches alike in an index of some thousand records, whatever the plan", async () => {
    const [seed, runs] = [42, 12];
    const records = fc.sample(record, { seed, numRuns: 3000 });
    const plans = fc.sample(planning, { seed, numRuns: runs });
    const asked = fc.sample(query, { seed, numRuns: runs * 40 });
    const { reference } = await openBoth(records);
    for (const [number, planned] of plans.entries()) {
      const engine = await PackageIndex.open(join(folder, "property.strata"), planned);
      for (const one of asked.slice(number * 40, (number + 1) * 40)) {
        const deep = { ...one, offset: one.offset * 97 };
        for (const wanted of [one, deep]) {
          const answer = parse(engine.search(wanted));
          expect(
            { total: answer.meta.total, ids: answer.data.map(({ id }: { id: number }) => id) },
            JSON.stringify([wanted, planned]),
          ).toEqual(reference.search(wanted));
        }
      }
    }
  });

  it("finds the same packages by description", async () => {
    const descriptionQuery = fc.oneof(
      words,
      fc.constantFrom(
        '"json parser"',
        "lib",
        '"naive',
        "the libr",
        '"library parsing" j',
        "pars",
        "!!!",
        "C++ AND",
        "resume",
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { maxLength: 40 }),
        fc.array(descriptionQuery, { minLength: 5 }),
        async (records, asked) => {
          const { engine, reference } = await openBoth(records);
          for (const q of asked) {
            const answer = parse(engine.searchDescriptions({ q, limit: 1000, offset: 0 }));
            const ids: number[] = answer.data.map(({ id }: { id: number }) => id);
            expect(new Set(ids), q).toEqual(reference.searchDescriptions(q));
            expect(answer.meta.total).toBe(ids.length);
            const pages = ids.flatMap((_, offset) =>
              parse(engine.searchDescriptions({ q, limit: 1, offset })).data.map(({ id }: { id: number }) => id),
            );
            expect(pages, "walking pages shows every package once, in the same order").toEqual(ids);
          }
        },
      ),
      { numRuns: 80 },
    );
  });

  it("lists packages alike and renders exactly what is stored", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 40 }), async (records) => {
        const { engine, reference } = await openBoth(records);
        for (const attributePath of new Set(records.map((given) => given.attributePath))) {
          const expected = reference.packageRecords(attributePath);
          const answer = parse(engine.findPackage(attributePath) as Buffer);
          expect(answer.data).toEqual(expected.map(toApi));
        }
      }),
      { numRuns: 60 },
    );
  });
});

const timestamp = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

function toApi(record: RangeRecord & { id: number }) {
  return {
    id: record.id,
    attribute_path: record.attributePath,
    name: record.name,
    version: record.version,
    description: record.description,
    license: record.license,
    first_commit_hash: record.firstCommitHash,
    first_commit_date: timestamp(record.firstCommitDate),
    last_commit_hash: record.lastCommitHash,
    last_commit_date: timestamp(record.lastCommitDate),
    homepage: record.homepage,
    maintainers: record.maintainers,
    platforms: record.platforms,
    source_path: record.sourcePath,
    known_vulnerabilities: record.knownVulnerabilities,
  };
}
