import type { ConfigurationFile } from "./configuration-file.js";
import type { Folders } from "./folders.js";
import type { Output } from "./output.js";
import type { Progress } from "./progress.js";
import type { Origin } from "./resolve-settings.js";
import type { SettingRows, SettingValues } from "./setting-kinds.js";
import type { Terminal } from "./terminal.js";

export interface Argument {
  readonly name: string;
  readonly doc: string;
  readonly optional?: boolean;
  /** takes all remaining words; only the last argument may */
  readonly variadic?: boolean;
  readonly complete?: (word: string) => Promise<readonly string[]> | readonly string[];
}

export type ArgumentValues<A extends readonly Argument[]> = {
  readonly [E in A[number] as E["name"]]: E extends { variadic: true }
    ? readonly string[]
    : E extends { optional: true }
      ? string | undefined
      : string;
};

export interface CommandContext<
  R extends SettingRows = SettingRows,
  A extends readonly Argument[] = readonly Argument[],
> {
  readonly args: ArgumentValues<A>;
  readonly settings: SettingValues<R>;
  readonly origins: { readonly [K in keyof R]: Origin };
  readonly output: Output;
  readonly terminal: Terminal;
  readonly folders: Folders;
  /** free-form tables of the configuration file are read from here */
  readonly file: ConfigurationFile | undefined;
  /** aborted by Ctrl-C and SIGTERM; a second Ctrl-C ends the process at once */
  readonly signal: AbortSignal;
  /** a progress display that is silent in JSON mode */
  readonly progress: () => Progress;
}

/** What a command runs with; build one with defineCommand, which checks `run` against its rows and arguments. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly Argument[];
  readonly settings: SettingRows;
  readonly examples: readonly string[];
  readonly subcommands: readonly Command[];
  readonly hidden: boolean;
  /** the command deals with SIGINT and SIGTERM itself (a server drains and exits 0) */
  readonly ownsSignals: boolean;
  /** resolves with an exit code, or nothing for 0 */
  readonly run: ((context: CommandContext) => Promise<number | undefined | void>) | undefined;
}

export interface CommandDefinition<R extends SettingRows, A extends readonly Argument[]> {
  readonly name: string;
  readonly summary: string;
  readonly arguments?: A;
  readonly settings?: R;
  readonly examples?: readonly string[];
  readonly subcommands?: readonly Command[];
  readonly hidden?: boolean;
  readonly ownsSignals?: boolean;
  readonly run?: (context: CommandContext<R, A>) => Promise<number | undefined | void>;
}

// biome-ignore lint/complexity/noBannedTypes: `{}` is the type of "no rows", from which no setting can be read
export function defineCommand<R extends SettingRows = {}, const A extends readonly Argument[] = readonly []>(
  definition: CommandDefinition<R, A>,
): Command {
  return {
    name: definition.name,
    summary: definition.summary,
    arguments: definition.arguments ?? [],
    settings: definition.settings ?? {},
    examples: definition.examples ?? [],
    subcommands: definition.subcommands ?? [],
    hidden: definition.hidden ?? false,
    ownsSignals: definition.ownsSignals ?? false,
    // The rows and arguments above are the very ones `run` was checked against, so the wider context fits it.
    run: definition.run as unknown as Command["run"],
  };
}

/** Every command below and including these, with its words: `models pull`. */
export function* walkCommands(
  commands: readonly Command[],
  words: readonly string[] = [],
): Generator<{ words: readonly string[]; command: Command }> {
  for (const command of commands) {
    const path = [...words, command.name];
    yield { words: path, command };
    yield* walkCommands(command.subcommands, path);
  }
}
