import { type Column, choice, defineCommand, integer, text, toggle } from "@kit/command-line";
import { nixShellLine } from "../contract/nix-shell-line.js";
import { openPackageSource, type Package, sourceSettings } from "./package-source.js";

/** A screen or two; more with --limit. */
const DEFAULT_LIMIT = 20;

export const searchCommand = defineCommand({
  name: "search",
  summary: "search packages by name, or by description",
  arguments: [
    { name: "query", doc: "part of an attribute path or name" },
    { name: "version", doc: "only versions that begin so", optional: true },
  ],
  settings: {
    ...sourceSettings,
    description: toggle({ flag: "-d, --description", doc: "search names and descriptions instead", default: false }),
    exact: toggle({ flag: "-e, --exact", doc: "only where path or name equal the query", default: false }),
    version: text({
      flag: "--version <prefix>",
      doc: "only versions that begin so, as the second argument",
      default: undefined,
    }),
    license: text({ flag: "-l, --license <text>", doc: "only licences that hold this text", default: undefined }),
    sort: choice({
      flag: "-s, --sort <order>",
      doc: "relevance, date, version or name",
      choices: ["relevance", "date", "version", "name"],
      default: "relevance",
    }),
    reverse: toggle({ flag: "-r, --reverse", doc: "turn the order around", default: false }),
    limit: integer({
      flag: "-n, --limit <number>",
      doc: "how many results",
      default: DEFAULT_LIMIT,
      min: 0,
      max: 1000,
    }),
    offset: integer({ flag: "--offset <number>", doc: "how many to skip", default: 0, min: 0 }),
  },
  examples: ["strata search python 3.11", "strata search requests --license apache", 'strata search -d "json parser"'],
  run: async ({ args, settings, folders, output, signal }) => {
    const source = await openPackageSource(settings, folders, signal);
    const { limit, offset, exact, sort, reverse } = settings;
    const page = settings.description
      ? await source.searchDescriptions({ q: args.query, limit, offset })
      : await source.search({
          q: args.query,
          version: settings.version ?? args.version ?? null,
          license: settings.license ?? null,
          exact,
          sort,
          reverse,
          limit,
          offset,
        });
    const json = { ...page, data: page.data.map((record) => ({ ...record, nix_shell: nixShellLine(record) })) };
    if (page.data.length > 0 || output.mode === "json") output.table(packageColumns, page.data, json);
    if (output.mode === "table") {
      const last = page.meta.offset + page.data.length;
      const range = page.data.length === 0 ? "none shown" : `${page.meta.offset + 1} to ${last} shown`;
      output.note(`${page.meta.total} found, ${range}${page.meta.has_more ? `; more with --offset ${last}` : ""}`);
      const [, name, version] = settings.description ? [] : (NAME_AND_VERSION.exec(args.query) ?? []);
      if (name !== undefined) output.note(`For version ${version} of ${name}: strata search ${name} ${version}`);
    }
  },
});

/** `python3.8`, `nodejs@18.2`: a version is no part of a name, so little or nothing is found under both. */
const NAME_AND_VERSION = /^([A-Za-z][\w.-]*?)[@=-]?(\d+(?:\.\d+)+)$/;

const packageColumns: readonly Column<Package>[] = [
  { title: "PACKAGE", value: (record) => record.attribute_path, style: (paint) => paint.bold },
  { title: "VERSION", value: (record) => record.version },
  { title: "LAST SEEN", value: (record) => record.last_commit_date.slice(0, 10) },
  { title: "SHELL", value: nixShellLine },
];
