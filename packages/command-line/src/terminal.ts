import type { Readable, Writable } from "node:stream";

/** The streams and facts a command sees of the outside world; tests pass their own. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** https://no-color.org and the FORCE_COLOR habit: an explicit wish wins, otherwise colour goes to terminals only. */
export function wantsColor(stream: { readonly isTTY?: boolean }, env: Terminal["env"]): boolean {
  if (env["NO_COLOR"]) return false;
  if (env["FORCE_COLOR"]) return env["FORCE_COLOR"] !== "0";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function paintFor(color: boolean): Paint {
  const code = (open: number, close: number) => (text: string) =>
    color ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    cyan: code(36, 39),
  };
}

const ESCAPES = /\u001b\[[0-9;]*m/g;

/** Columns a text takes on a terminal: escapes take none, East Asian wide characters and emoji two. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text.replace(ESCAPES, "").normalize("NFC")) {
    const point = char.codePointAt(0)!;
    if (/\p{Mark}|\p{Cf}/u.test(char)) continue;
    width += isWide(point) ? 2 : 1;
  }
  return width;
}

function isWide(point: number): boolean {
  return (
    (point >= 0x1100 && point <= 0x115f) ||
    (point >= 0x2e80 && point <= 0xa4cf) ||
    (point >= 0xac00 && point <= 0xd7a3) ||
    (point >= 0xf900 && point <= 0xfaff) ||
    (point >= 0xfe30 && point <= 0xfe6f) ||
    (point >= 0xff00 && point <= 0xff60) ||
    (point >= 0xffe0 && point <= 0xffe6) ||
    (point >= 0x1f300 && point <= 0x1faff) ||
    (point >= 0x20000 && point <= 0x3fffd)
  );
}

/** Control characters from data (package descriptions, prompts) must not reach the terminal as commands. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
}
