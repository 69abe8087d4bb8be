import { defineCommand } from "@kit/command-line";
import { openPackageSource, sourceSettings } from "./package-source.js";

export const statsCommand = defineCommand({
  name: "stats",
  summary: "show what the index holds",
  settings: sourceSettings,
  run: async ({ settings, folders, output, signal }) => {
    const source = await openPackageSource(settings, folders, signal);
    const { data } = await source.statistics();
    output.fields(
      [
        ["version ranges", data.total_ranges],
        ["package names", data.unique_names],
        ["versions", data.unique_versions],
        ["oldest commit", data.oldest_commit_date],
        ["newest commit", data.newest_commit_date],
        ["indexed commit", data.last_indexed_commit],
        ["indexed date", data.last_indexed_date],
        ...(data.sample ? ([["sample", "a small sample, not the whole of nixpkgs"]] as const) : []),
      ],
      data,
    );
  },
});
