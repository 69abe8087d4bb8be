import { type Command, defineCommand } from "./command.js";
import { CommandError } from "./exit-codes.js";
import { longFlag, type Setting, type SettingRows } from "./setting-kinds.js";

/**
 * Shell completion: the scripts are short and ask the program itself (`<program> __complete word word ...`), so what they
 * offer is always what the program understands, dynamic names (models, packages) included.
 */
const scripts: Readonly<Record<string, (program: string) => string>> = {
  bash: (program) => `_${program}_complete() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(${program} __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && compopt -o default 2>/dev/null
}
complete -F _${program}_complete ${program}
`,
  zsh: (program) => `#compdef ${program}
_${program}() {
  local -a found
  found=("\${(@f)$(${program} __complete "\${words[@]:1:$((CURRENT-1))}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -Q -- \${found//:/\\\\:}; else _files; fi
}
compdef _${program} ${program}
`,
  fish: (program) => `function __${program}_complete
  set -l words (commandline -opc) (commandline -ct)
  ${program} __complete $words[2..-1] 2>/dev/null
end
complete -c ${program} -a "(__${program}_complete)"
`,
};

export function completionsCommand(program: string): Command {
  const shells = Object.keys(scripts);
  return defineCommand({
    name: "completions",
    summary: "print a shell completion script",
    arguments: [{ name: "shell", doc: shells.join(", "), complete: () => shells }],
    examples: [
      `source <(${program} completions bash)`,
      `${program} completions fish > ~/.config/fish/completions/${program}.fish`,
    ],
    run: async ({ args, terminal }) => {
      const script = scripts[args.shell];
      if (!script)
        throw new CommandError("usage", `unknown shell '${args.shell}'`, { remedy: `Known are ${shells.join(", ")}.` });
      terminal.stdout.write(script(program));
    },
  });
}

/** What may stand where the last of these words is being typed. */
export async function completeWords(
  commands: readonly Command[],
  shared: SettingRows,
  words: readonly string[],
): Promise<readonly string[]> {
  const typed = words.at(-1) ?? "";
  let level = commands;
  let command: Command | undefined;
  let position = 0;
  const before = words.slice(0, -1);
  for (let i = 0; i < before.length; i++) {
    const word = before[i]!;
    if (word.startsWith("-")) {
      const setting = findSetting(command, shared, word);
      if (setting && takesValue(setting) && !word.includes("=")) {
        if (i === before.length - 1) return startingWith(await setting.complete?.(typed), typed);
        i++;
      }
      continue;
    }
    const next: Command | undefined = level.find((candidate) => candidate.name === word);
    if (next) {
      command = next;
      level = next.subcommands;
    } else position++;
  }
  if (typed.startsWith("-")) return startingWith(flagsOf(command, shared), typed);
  if (level.length > 0 && position === 0)
    return startingWith(
      level.filter((c) => !c.hidden).map((c) => c.name),
      typed,
    );
  const places = command?.arguments ?? [];
  const argument = places[Math.min(position, places.length - 1)];
  return startingWith(await argument?.complete?.(typed), typed);
}

const startingWith = (names: readonly string[] | undefined, typed: string): readonly string[] =>
  (names ?? []).filter((name) => name.startsWith(typed));

const takesValue = (setting: Setting<unknown>): boolean => setting.flag?.includes("<") ?? false;

function findSetting(command: Command | undefined, shared: SettingRows, word: string): Setting<unknown> | undefined {
  const flag = word.split("=", 1)[0]!;
  return Object.values({ ...command?.settings, ...shared }).find((setting) =>
    setting.flag?.split(/[ ,]+/).includes(flag),
  );
}

function flagsOf(command: Command | undefined, shared: SettingRows): readonly string[] {
  if (!command) return ["--help", "--version"];
  const flags = Object.values({ ...command.settings, ...shared }).map(longFlag);
  return [...flags.filter((flag) => flag !== undefined), "--help"];
}
