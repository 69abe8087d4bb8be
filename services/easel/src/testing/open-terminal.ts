/** A program on a real pseudo-terminal, with a screen that can be read as a person sees it. */
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

const PROGRAM = fileURLToPath(new URL("../../bin/easel.js", import.meta.url));
const WAIT_MS = 45_000;
/** What a program writes just before it ends can be lost with its terminal: a shell holds it open a moment longer and passes the exit code on. */
const KEEP_TERMINAL_OPEN = 'trap : INT; "$@"; code=$?; sleep 0.5; exit $code';

export interface OpenTerminal {
  /** keys as a terminal sends them: text, "\r" for Enter, "\u001b" for Esc, "\t" for Tab */
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** the screen's lines, without trailing spaces */
  screen(): string;
  /** everything written so far, escapes included */
  written(): string;
  /** waits until the screen matches, and fails with the screen in its message */
  waitFor(pattern: RegExp): Promise<void>;
  ended(): Promise<number>;
  kill(signal?: string): void;
}

export interface TerminalOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
}

export function openTerminal({ args, env, columns = 100, rows = 30, cwd }: TerminalOptions): OpenTerminal {
  const emulator = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  let written = "";
  const child = spawn("/bin/sh", ["-c", KEEP_TERMINAL_OPEN, "sh", process.execPath, PROGRAM, ...args], {
    cols: columns,
    rows,
    cwd: cwd ?? process.cwd(),
    env: { ...plainEnvironment(), ...env },
  });
  child.onData((data) => {
    written += data;
    emulator.write(data);
  });
  const ended = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)));
  const screen = (): string => {
    const buffer = emulator.buffer.active;
    const lines = Array.from(
      { length: emulator.rows },
      (_, y) => buffer.getLine(buffer.baseY + y)?.translateToString(true) ?? "",
    );
    return lines.join("\n");
  };
  return {
    type: (keys) => child.write(keys),
    resize: (width, height) => {
      emulator.resize(width, height);
      child.resize(width, height);
    },
    screen,
    written: () => written,
    waitFor: async (pattern) => {
      const until = Date.now() + WAIT_MS;
      while (!pattern.test(screen())) {
        if (Date.now() > until) throw new Error(`${pattern} did not appear. The screen:\n${screen()}`);
        await wait(25);
      }
    },
    ended: () => ended,
    kill: (signal) => child.kill(signal),
  };
}

/** The colours and pictures of a plain modern terminal, whatever runs the tests; a set but empty `CI` would still count as CI. */
function plainEnvironment(): Record<string, string | undefined> {
  const { CI: _ci, TMUX: _tmux, NO_COLOR: _color, FORCE_COLOR: _force, TERM_PROGRAM: _program, ...rest } = process.env;
  return { ...rest, TERM: "xterm-256color" };
}
