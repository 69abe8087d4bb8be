import { Command as CommanderCommand, CommanderError, Option } from "commander";
import { type Command, type CommandContext, walkCommands } from "./command.js";
import { completeWords, completionsCommand } from "./completions.js";
import { configCommand } from "./config-command.js";
import { type ConfigurationFile, readConfigurationFile, refuseUnknownKeys } from "./configuration-file.js";
import { CommandError, exitCodes, usageError } from "./exit-codes.js";
import { userFolders } from "./folders.js";
import { createOutput, type OutputMode } from "./output.js";
import { createProgress } from "./progress.js";
import { resolveSettings, type SettingSources } from "./resolve-settings.js";
import { longFlag, type Setting, type SettingRows, text, toggle } from "./setting-kinds.js";
import type { Terminal } from "./terminal.js";

export interface ProgramDefinition {
  readonly name: string;
  readonly version: string;
  readonly summary: string;
  readonly commands: readonly Command[];
  /** keys of the configuration file below which anything may stand, e.g. prompt templates */
  readonly openTables?: readonly string[];
}

export interface RunOptions {
  readonly terminal: Terminal;
  /** aborts the command as Ctrl-C does */
  readonly signal?: AbortSignal;
  /** called before a command that deals with signals itself */
  readonly releaseSignals?: () => void;
}

/** Rows every command has. */
function sharedRows(program: string): SettingRows {
  return {
    json: toggle({ flag: "--json", doc: "write JSON", default: false }),
    plain: toggle({ flag: "--plain", doc: "write tab-separated lines without colour", default: false }),
    config: text({
      flag: "--config <file>",
      env: `${program.toUpperCase()}_CONFIG`,
      doc: "configuration file (TOML)",
      default: undefined,
      defaultText: `config.toml in the user's configuration folder for ${program}`,
    }),
  };
}

/** Runs one command line and gives the exit code; never throws and never ends the process. */
export async function runProgram(
  definition: ProgramDefinition,
  words: readonly string[],
  options: RunOptions,
): Promise<number> {
  const { terminal } = options;
  const commands = withBuiltIns(definition);
  if (words[0] === "__complete") {
    for (const word of await completeWords(commands, sharedRows(definition.name), words.slice(1)))
      terminal.stdout.write(`${word}\n`);
    return exitCodes.ok;
  }
  let exitCode: number = exitCodes.ok;
  const root = new CommanderCommand(definition.name)
    .description(definition.summary)
    .version(definition.version, "-V, --version")
    // The program's own options count only before the command: `strata search python --version 3.9` means the package's.
    .enablePositionalOptions()
    .helpCommand(false)
    .showHelpAfterError(`Run '${definition.name} --help' for what there is.`)
    .exitOverride()
    .configureOutput({
      writeOut: (out) => void terminal.stdout.write(out),
      writeErr: (out) => void terminal.stderr.write(out),
      getOutHelpWidth: () => terminal.stdout.columns ?? 100,
    });
  for (const command of commands) {
    addCommand(root, command, definition, async (invocation) => {
      exitCode = (await runCommand(definition, commands, invocation, options)) ?? exitCodes.ok;
    });
  }
  try {
    await root.parseAsync([...words], { from: "user" });
    return exitCode;
  } catch (error) {
    return reportError(definition.name, error, words.includes("--json"), terminal);
  }
}

interface Invocation {
  readonly command: Command;
  readonly flags: SettingSources["flags"];
  readonly args: Readonly<Record<string, unknown>>;
}

function withBuiltIns(definition: ProgramDefinition): readonly Command[] {
  const all: Command[] = [...definition.commands];
  all.push(
    configCommand(definition, () => all),
    completionsCommand(definition.name),
  );
  return all;
}

function addCommand(
  parent: CommanderCommand,
  command: Command,
  definition: ProgramDefinition,
  invoke: (invocation: Invocation) => Promise<void>,
): void {
  const target = parent
    .command(command.name, { hidden: command.hidden })
    .description(command.summary)
    .helpCommand(false);
  target.copyInheritedSettings(parent);
  for (const sub of command.subcommands) addCommand(target, sub, definition, invoke);
  if (command.examples.length > 0)
    target.addHelpText("after", `\nExamples:\n${command.examples.map((line) => `  ${line}`).join("\n")}`);
  if (!command.run) {
    // A group without a command of its own: show what it holds.
    if (command.subcommands.length > 0) target.action(() => target.help({ error: true })).allowExcessArguments(true);
    return;
  }
  for (const argument of command.arguments) {
    const inner = argument.variadic ? `${argument.name}...` : argument.name;
    target.argument(argument.optional ? `[${inner}]` : `<${inner}>`, argument.doc);
  }
  target.allowExcessArguments(false);
  const rows: SettingRows = { ...command.settings, ...sharedRows(definition.name) };
  const attributes = addOptions(target, rows);
  target.action(async (...values: unknown[]) => {
    const given = target.opts<Record<string, string | boolean | string[]>>();
    const flags = Object.fromEntries([...attributes].map(([name, attribute]) => [name, given[attribute]]));
    const args = Object.fromEntries(command.arguments.map((argument, i) => [argument.name, values[i]]));
    await invoke({ command, flags, args });
  });
}

/** Registers the rows' flags; gives the name under which commander keeps each row's value. */
function addOptions(target: CommanderCommand, rows: SettingRows): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [name, setting] of Object.entries(rows)) {
    if (setting.flag === undefined) continue;
    const option = new Option(setting.flag, describe(setting));
    if (setting.repeatable)
      option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
    target.addOption(option);
    attributes.set(name, option.attributeName());
    if (setting.kind === "switch" && setting.default === true) {
      target.addOption(new Option(longFlag(setting)!.replace("--", "--no-"), `turn off ${longFlag(setting)}`));
    }
  }
  return attributes;
}

function describe(setting: Setting<unknown>): string {
  const facts: string[] = [];
  const fallback = setting.defaultText ?? defaultText(setting.default);
  if (fallback !== undefined) facts.push(`default: ${fallback}`);
  if (setting.env !== undefined) facts.push(`env: ${setting.env}`);
  return facts.length === 0 ? setting.doc : `${setting.doc} (${facts.join("; ")})`;
}

function defaultText(value: unknown): string | undefined {
  if (value === undefined || value === false || value === "" || (Array.isArray(value) && value.length === 0))
    return undefined;
  return String(value);
}

async function runCommand(
  definition: ProgramDefinition,
  commands: readonly Command[],
  invocation: Invocation,
  options: RunOptions,
): Promise<number | undefined> {
  const { terminal } = options;
  const { command, flags } = invocation;
  const folders = userFolders(definition.name, terminal.env);
  const shared = resolveSettings(sharedRows(definition.name), { flags, env: terminal.env, file: undefined }).values as {
    readonly json: boolean;
    readonly plain: boolean;
    readonly config: string | undefined;
  };
  const file = loadFile(definition, commands, shared.config, `${folders.config}/config.toml`);
  const resolved = resolveSettings(command.settings, { flags, env: terminal.env, file });
  if (shared.json && shared.plain) throw usageError("--json and --plain cannot both be given");
  const mode: OutputMode = shared.json ? "json" : shared.plain ? "plain" : "table";
  if (command.ownsSignals) options.releaseSignals?.();
  const context: CommandContext = {
    args: invocation.args as CommandContext["args"],
    settings: resolved.values,
    origins: resolved.origins,
    output: createOutput(terminal, mode),
    terminal,
    folders,
    file,
    signal: options.signal ?? new AbortController().signal,
    progress: () => createProgress(terminal, { silent: mode === "json" }),
  };
  const code = await command.run!(context);
  if (context.signal.aborted && !command.ownsSignals) return exitCodes.interrupted;
  return code ?? undefined;
}

function loadFile(
  definition: ProgramDefinition,
  commands: readonly Command[],
  given: string | undefined,
  standard: string,
): ConfigurationFile | undefined {
  const openTables = definition.openTables ?? [];
  const file = readConfigurationFile(given ?? standard, { required: given !== undefined, openTables });
  if (file) {
    const known = new Set<string>(openTables);
    for (const { command } of walkCommands(commands)) {
      for (const setting of Object.values(command.settings)) if (setting.key !== undefined) known.add(setting.key);
    }
    refuseUnknownKeys(file, known);
  }
  return file;
}

function reportError(program: string, error: unknown, json: boolean, terminal: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  const interrupted = error instanceof Error && error.name === "AbortError";
  const exitCode =
    error instanceof CommandError ? error.exitCode : interrupted ? exitCodes.interrupted : exitCodes.failed;
  const message = error instanceof Error ? error.message : String(error);
  const remedy = error instanceof CommandError ? error.remedy : undefined;
  if (json) {
    terminal.stderr.write(
      `${JSON.stringify({ error: { message, ...(remedy === undefined ? {} : { remedy }), exit_code: exitCode } })}\n`,
    );
    return exitCode;
  }
  terminal.stderr.write(`${program}: ${interrupted ? "interrupted" : message}\n`);
  if (remedy !== undefined) terminal.stderr.write(`${remedy}\n`);
  if (!(error instanceof CommandError) && !interrupted && error instanceof Error && error.stack) {
    terminal.stderr.write(`${error.stack.split("\n").slice(1).join("\n")}\n`);
  }
  return exitCode;
}
