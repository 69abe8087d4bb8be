import type { Writable } from "node:stream";
import { displayWidth, type Paint, paintFor, printable, type Terminal, wantsColor } from "./terminal.js";

/** How results are written: for people, for scripts that cut lines at tabs, or for programs. */
export type OutputMode = "table" | "plain" | "json";

export interface Column<R> {
  readonly title: string;
  readonly value: (row: R) => string | number | null | undefined;
  readonly align?: "left" | "right";
  /** may be cut with … so that the table fits the terminal */
  readonly flexible?: boolean;
  /** colours the padded cell */
  readonly style?: (paint: Paint, row: R) => (text: string) => string;
}

export interface Output {
  readonly mode: OutputMode;
  readonly paint: Paint;
  /** a line for people; silent in JSON mode */
  line(text?: string): void;
  /** a line about what is going on, to stderr, so that pipes stay clean */
  note(text: string): void;
  json(value: unknown): void;
  /** rows as an aligned table, tab-separated lines or a JSON array (`json`, or else the rows themselves) */
  table<R>(columns: readonly Column<R>[], rows: readonly R[], json?: unknown): void;
  /** names and values of one thing */
  fields(pairs: readonly (readonly [string, string | number | boolean | null | undefined])[], json?: unknown): void;
}

const NARROWEST_FLEXIBLE_COLUMN = 12;
const COLUMN_GAP = 2;
const UNKNOWN_WIDTH = 100;

export function createOutput(terminal: Terminal, mode: OutputMode): Output {
  const paint = paintFor(mode === "table" && wantsColor(terminal.stdout, terminal.env));
  const write = (text: string): void => writeLine(terminal.stdout, text);
  const json = (value: unknown): void => write(JSON.stringify(value, null, 2));
  return {
    mode,
    paint,
    line: (text = "") => {
      if (mode !== "json") write(text);
    },
    note: (text) => writeLine(terminal.stderr, text),
    json,
    table: (columns, rows, jsonValue) => {
      if (mode === "json") return json(jsonValue ?? rows);
      const lines =
        mode === "plain" ? plainLines(columns, rows) : tableLines(columns, rows, paint, terminalWidth(terminal));
      for (const line of lines) write(line);
    },
    fields: (pairs, jsonValue) => {
      if (mode === "json") return json(jsonValue ?? Object.fromEntries(pairs));
      const width = Math.max(...pairs.map(([name]) => name.length));
      for (const [name, value] of pairs) {
        const shown = value === null || value === undefined ? "-" : String(value);
        write(mode === "plain" ? `${name}\t${shown}` : `${paint.dim(name.padEnd(width))}  ${shown}`);
      }
    },
  };
}

const writeLine = (stream: Writable, text: string): void => {
  stream.write(`${text}\n`);
};

const terminalWidth = (terminal: Terminal): number =>
  terminal.stdout.isTTY ? (terminal.stdout.columns ?? UNKNOWN_WIDTH) : Number.POSITIVE_INFINITY;

const cellText = (value: string | number | null | undefined): string =>
  value === null || value === undefined ? "" : printable(String(value));

function plainLines<R>(columns: readonly Column<R>[], rows: readonly R[]): string[] {
  return rows.map((row) => columns.map((column) => cellText(column.value(row))).join("\t"));
}

function tableLines<R>(columns: readonly Column<R>[], rows: readonly R[], paint: Paint, available: number): string[] {
  const cells = rows.map((row) => columns.map((column) => cellText(column.value(row))));
  const widths = columns.map((column, i) =>
    Math.max(displayWidth(column.title), ...cells.map((row) => displayWidth(row[i]!))),
  );
  shrinkToFit(columns, widths, available);
  const last = columns.length - 1;
  const layOut = (texts: readonly string[], style: (text: string, i: number) => string): string =>
    texts
      .map((text, i) =>
        style(
          pad(clip(text, widths[i]!), i === last && columns[i]!.align !== "right" ? 0 : widths[i]!, columns[i]!.align),
          i,
        ),
      )
      .join(" ".repeat(COLUMN_GAP))
      .trimEnd();
  const header = layOut(
    columns.map((column) => column.title),
    (text) => paint.bold(text),
  );
  const body = rows.map((row, r) => layOut(cells[r]!, (text, i) => columns[i]!.style?.(paint, row)(text) ?? text));
  return [header, ...body];
}

function shrinkToFit<R>(columns: readonly Column<R>[], widths: number[], available: number): void {
  const total = (): number => widths.reduce((sum, width) => sum + width, 0) + COLUMN_GAP * (widths.length - 1);
  while (total() > available) {
    let widest = -1;
    for (let i = 0; i < widths.length; i++) {
      if (
        columns[i]!.flexible &&
        widths[i]! > NARROWEST_FLEXIBLE_COLUMN &&
        (widest < 0 || widths[i]! > widths[widest]!)
      )
        widest = i;
    }
    if (widest < 0) return;
    widths[widest]! -= Math.min(widths[widest]! - NARROWEST_FLEXIBLE_COLUMN, total() - available);
  }
}

function clip(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  for (const char of text) {
    if (displayWidth(kept + char) > width - 1) break;
    kept += char;
  }
  return `${kept}…`;
}

function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "right" ? space + text : text + space;
}
