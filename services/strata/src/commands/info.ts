import { defineCommand } from "@kit/command-line";
import { nixShellLine } from "../contract/nix-shell-line.js";
import { openPackageSource, type Package, sourceSettings } from "./package-source.js";

export const infoCommand = defineCommand({
  name: "info",
  summary: "show everything about a package, or about one version of it",
  arguments: [
    { name: "package", doc: "its attribute path" },
    { name: "version", doc: "a version of it; without one the newest record", optional: true },
  ],
  settings: sourceSettings,
  examples: ["strata info firefox", "strata info python313Packages.requests 2.32.3"],
  run: async ({ args, settings, folders, output, signal }) => {
    const source = await openPackageSource(settings, folders, signal);
    const { data } =
      args.version === undefined
        ? await source.packageRecords(args.package)
        : await source.versionRecords(args.package, args.version);
    const newest = data[0]!;
    const records = data.map((record) => ({ ...record, nix_shell: nixShellLine(record) }));
    output.fields(describePackage(newest, data), args.version === undefined ? records[0] : records);
  },
});

function describePackage(record: Package, all: readonly Package[]): [string, string | number | null][] {
  const versions = new Set(all.map(({ version }) => version)).size;
  const ranges = all.map(
    ({ first_commit_date, last_commit_date }) =>
      `${first_commit_date.slice(0, 10)} to ${last_commit_date.slice(0, 10)}`,
  );
  return [
    ["package", record.attribute_path],
    ["name", record.name],
    ["version", versions > 1 ? `${record.version} (and ${versions - 1} more: strata history)` : record.version],
    ["description", record.description],
    ["license", record.license],
    ["homepage", record.homepage],
    ["maintainers", record.maintainers?.join(", ") ?? null],
    ["platforms", record.platforms?.join(", ") ?? null],
    ["source", record.source_path],
    ["insecure", record.known_vulnerabilities?.join("; ") || null],
    ["seen", versions > 1 ? ranges[0]! : ranges.join(", ")],
    ["first commit", `${record.first_commit_hash} (${record.first_commit_date})`],
    ["last commit", `${record.last_commit_hash} (${record.last_commit_date})`],
    ["shell", nixShellLine(record)],
  ];
}
