import type { Terminal } from "./terminal.js";

/**
 * Pictures inside a terminal. Kitty and iTerm2 take the encoded file and scale it themselves; sixel and half-blocks are drawn
 * from pixels that the caller has already brought to the size `pictureSize` asks for.
 */
export type PictureProtocol = "kitty" | "iterm2" | "sixel" | "half-blocks" | "none";

export const pictureProtocols: readonly PictureProtocol[] = ["kitty", "iterm2", "sixel", "half-blocks", "none"];

export interface PicturePixels {
  readonly width: number;
  readonly height: number;
  /** 3 bytes a pixel, row by row */
  readonly rgb: Uint8Array;
}

/** Terminals that understand sixel and say so in TERM or TERM_PROGRAM; others cannot be told apart without asking the terminal. */
const SIXEL_TERMINALS = /^(foot|mlterm|contour|yaft|xterm-sixel)/;
const KITTY_TERMINALS = /^(xterm-kitty|xterm-ghostty)/;
const KITTY_PROGRAMS = new Set(["ghostty", "kitty"]);
const ITERM_PROGRAMS = new Set(["iTerm.app", "WezTerm", "mintty", "vscode", "Hyper"]);

/** The best protocol the environment shows. tmux and screen swallow the graphics sequences, so pictures there are made of characters. */
export function detectPictureProtocol(terminal: Pick<Terminal, "stdout" | "env">): PictureProtocol {
  const { env, stdout } = terminal;
  const term = env["TERM"] ?? "";
  if (!stdout.isTTY || term === "dumb") return "none";
  if (env["TMUX"] || /^(tmux|screen)/.test(term)) return "half-blocks";
  if (env["KITTY_WINDOW_ID"] || KITTY_TERMINALS.test(term) || KITTY_PROGRAMS.has(env["TERM_PROGRAM"] ?? ""))
    return "kitty";
  if (ITERM_PROGRAMS.has(env["TERM_PROGRAM"] ?? "") || env["LC_TERMINAL"] === "iTerm2") return "iterm2";
  if (SIXEL_TERMINALS.test(term)) return "sixel";
  return "half-blocks";
}

/** Pixels of a character cell where the terminal does not tell: only the shape matters, most fonts are twice as high as wide. */
const CELL = { width: 8, height: 16 };

export interface Cells {
  readonly columns: number;
  readonly rows: number;
}

/** The cells a picture takes inside `room` with its shape kept, and the pixels to draw it with. */
export function pictureSize(
  picture: { readonly width: number; readonly height: number },
  room: Cells,
  protocol: PictureProtocol,
): Cells & { readonly width: number; readonly height: number } {
  const scale = Math.min((room.columns * CELL.width) / picture.width, (room.rows * CELL.height) / picture.height);
  const columns = Math.max(1, Math.min(room.columns, Math.round((picture.width * scale) / CELL.width)));
  const rows = Math.max(1, Math.min(room.rows, Math.round((picture.height * scale) / CELL.height)));
  if (protocol === "half-blocks") return { columns, rows, width: columns, height: rows * 2 };
  return { columns, rows, width: columns * CELL.width, height: rows * CELL.height };
}

export function drawHalfBlocks(picture: PicturePixels): string {
  const lines: string[] = [];
  for (let y = 0; y + 1 < picture.height; y += 2) {
    let line = "";
    let last = "";
    for (let x = 0; x < picture.width; x++) {
      const colors = `\u001b[38;2;${colorAt(picture, x, y)};48;2;${colorAt(picture, x, y + 1)}m`;
      line += colors === last ? "▀" : `${colors}▀`;
      last = colors;
    }
    lines.push(`${line}\u001b[0m`);
  }
  return lines.join("\n");
}

function colorAt(picture: PicturePixels, x: number, y: number): string {
  const at = (y * picture.width + x) * 3;
  return `${picture.rgb[at]};${picture.rgb[at + 1]};${picture.rgb[at + 2]}`;
}

const SIXEL_COLORS = 256;

export async function drawSixel(picture: PicturePixels): Promise<string> {
  // Loaded only when there is such a picture to show: it costs every other command a tenth of its start.
  const { image2sixel } = await import("sixel");
  const rgba = new Uint8Array(picture.width * picture.height * 4);
  for (let i = 0, at = 0; i < picture.rgb.length; i += 3, at += 4) {
    rgba[at] = picture.rgb[i]!;
    rgba[at + 1] = picture.rgb[i + 1]!;
    rgba[at + 2] = picture.rgb[i + 2]!;
    rgba[at + 3] = 255;
  }
  return image2sixel(rgba, picture.width, picture.height, SIXEL_COLORS);
}

/** The kitty protocol takes at most this much base64 in one sequence. */
const KITTY_CHUNK = 4096;

export function drawKitty(png: Uint8Array, cells: Cells): string {
  const data = Buffer.from(png).toString("base64");
  let result = "";
  for (let at = 0; at < data.length; at += KITTY_CHUNK) {
    const more = at + KITTY_CHUNK < data.length ? 1 : 0;
    // a=T: show at once; f=100: PNG; q=2: no answers, nobody reads them here
    const keys = at === 0 ? `a=T,f=100,q=2,c=${cells.columns},r=${cells.rows},m=${more}` : `m=${more}`;
    result += `\u001b_G${keys};${data.slice(at, at + KITTY_CHUNK)}\u001b\\`;
  }
  return result;
}

export function drawIterm2(file: Uint8Array, cells: Cells): string {
  const data = Buffer.from(file).toString("base64");
  return `\u001b]1337;File=inline=1;size=${file.length};width=${cells.columns};height=${cells.rows};preserveAspectRatio=1:${data}\u0007`;
}
