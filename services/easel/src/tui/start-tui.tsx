import type { Terminal } from "@kit/command-line";
import { render } from "ink";
import type { ClientConnection } from "../client/open-client.js";
import { App } from "./app.js";

const ENTER_SCREEN = "\u001b[?1049h\u001b[H";
/** Back to the shell's own screen, with its cursor and without mouse or bracketed-paste modes. */
const LEAVE_SCREEN = "\u001b[?1049l\u001b[?25h\u001b[?2004l";

/** Runs the UI on a screen of its own until it is left. Whatever happens, the shell gets its screen back. */
export async function startTui(client: ClientConnection, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { stdout } = terminal;
  let left = false;
  const leave = (): void => {
    if (left) return;
    left = true;
    stdout.write(LEAVE_SCREEN);
  };
  process.once("exit", leave);
  stdout.write(ENTER_SCREEN);
  const ui = render(<App client={client} />, {
    stdin: terminal.stdin as NodeJS.ReadStream,
    stdout: stdout as NodeJS.WriteStream,
    stderr: terminal.stderr as NodeJS.WriteStream,
    exitOnCtrlC: false,
    patchConsole: true,
  });
  const stop = (): void => ui.unmount();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await ui.waitUntilExit();
  } finally {
    signal.removeEventListener("abort", stop);
    leave();
    process.off("exit", leave);
  }
}
