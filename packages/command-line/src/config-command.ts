import { type Command, defineCommand, walkCommands } from "./command.js";
import type { ProgramDefinition } from "./program.js";
import { resolveSettings } from "./resolve-settings.js";
import { longFlag, type Setting } from "./setting-kinds.js";

interface SettingRow {
  readonly key: string;
  readonly value: unknown;
  readonly origin: string;
  readonly flag: string | null;
  readonly env: string | null;
  readonly doc: string;
}

/** `config show`: every setting with its value and where the value came from; `config path`: where the file is looked for. */
export function configCommand(definition: ProgramDefinition, commands: () => readonly Command[]): Command {
  const show = defineCommand({
    name: "show",
    summary: "show every setting, its value and where that came from",
    run: async ({ output, terminal, file }) => {
      const rows: SettingRow[] = [];
      for (const [name, setting] of distinctSettings(commands())) {
        const { values, origins } = resolveSettings({ [name]: setting }, { flags: {}, env: terminal.env, file });
        rows.push({
          key: setting.key ?? name,
          value:
            setting.secret && values[name] !== undefined ? "********" : (values[name] ?? setting.defaultText ?? null),
          origin: origins[name] === "file" ? (file?.path ?? "file") : originText(origins[name]!, setting),
          flag: longFlag(setting) ?? null,
          env: setting.env ?? null,
          doc: setting.doc,
        });
      }
      rows.sort((a, b) => (a.key < b.key ? -1 : 1));
      output.table(
        [
          { title: "KEY", value: (row) => row.key },
          { title: "VALUE", value: (row) => (row.value === null ? "-" : JSON.stringify(row.value)), flexible: true },
          { title: "FROM", value: (row) => row.origin, flexible: true },
          { title: "FLAG", value: (row) => row.flag ?? "" },
          { title: "VARIABLE", value: (row) => row.env ?? "" },
        ],
        rows,
      );
    },
  });
  const path = defineCommand({
    name: "path",
    summary: "show where the configuration file is looked for",
    run: async ({ output, folders, file }) => {
      const place = file?.path ?? `${folders.config}/config.toml`;
      output.fields(
        [
          ["path", place],
          ["exists", file !== undefined],
        ],
        { path: place, exists: file !== undefined },
      );
    },
  });
  return defineCommand({ name: "config", summary: `settings of ${definition.name}`, subcommands: [show, path] });
}

const originText = (origin: string, setting: Setting<unknown>): string =>
  origin === "environment" ? `environment (${setting.env})` : origin;

/** Commands share rows (`--server`): each once, by its key or name. */
function distinctSettings(commands: readonly Command[]): Map<string, Setting<unknown>> {
  const found = new Map<string, Setting<unknown>>();
  for (const { command } of walkCommands(commands)) {
    for (const [name, setting] of Object.entries(command.settings)) {
      if (setting.env === undefined && setting.key === undefined) continue;
      const id = setting.key ?? name;
      if (![...found.values()].some((other) => other.key === setting.key && other.env === setting.env))
        found.set(id, setting);
    }
  }
  return found;
}
