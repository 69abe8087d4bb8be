import { type Column, defineCommand } from "@kit/command-line";
import type { Static } from "typebox";
import { nixShellLine } from "../contract/nix-shell-line.js";
import type { HistoryEntry } from "../contract/schemas.js";
import { openPackageSource, sourceSettings } from "./package-source.js";

type Entry = Static<typeof HistoryEntry> & { readonly nix_shell: string };

export const historyCommand = defineCommand({
  name: "history",
  summary: "show when each version of a package came and went",
  arguments: [{ name: "package", doc: "its attribute path" }],
  settings: sourceSettings,
  examples: ["strata history firefox", "strata history nodejs --json"],
  run: async ({ args, settings, folders, output, signal }) => {
    const source = await openPackageSource(settings, folders, signal);
    const [{ data: entries }, { data: records }] = await Promise.all([
      source.history(args.package),
      source.packageRecords(args.package),
    ]);
    // Records come newest first, so the first of a version is the one that was there last.
    const lines = new Map<string, string>();
    for (const record of records) {
      if (!lines.has(record.version)) lines.set(record.version, nixShellLine(record));
    }
    const data = entries.map((entry) => ({ ...entry, nix_shell: lines.get(entry.version) ?? "" }));
    output.table(columns, data, { data });
  },
});

const columns: readonly Column<Entry>[] = [
  { title: "VERSION", value: (entry) => entry.version, style: (paint) => paint.bold },
  { title: "FIRST SEEN", value: (entry) => entry.first_seen.slice(0, 10) },
  { title: "LAST SEEN", value: (entry) => entry.last_seen.slice(0, 10) },
  { title: "INSECURE", value: (entry) => (entry.is_insecure ? "yes" : "") },
  { title: "SHELL", value: (entry) => entry.nix_shell },
];
