import { formatDuration } from "./format-values.js";
import { paintFor, type Terminal, wantsColor } from "./terminal.js";

export interface ProgressState {
  readonly label: string;
  readonly done?: number;
  readonly total?: number;
  /** figures after the bar: `12.4 MiB/s`, `310 ms/step` */
  readonly detail?: string;
}

export interface Progress {
  update(state: ProgressState): void;
  /** takes the bar away; `text` stays as a line of its own */
  finish(text?: string): void;
}

export interface ProgressOptions {
  readonly now?: () => number;
  /** no output at all, for `--json` or `--quiet` */
  readonly silent?: boolean;
}

const BAR_WIDTH = 24;
/** Redraws faster than this only cost the terminal (and an ssh line) work nobody sees. */
const REDRAW_MS = 80;
/** Off a terminal: a line per change of label, and per so many percent. */
const LINE_EVERY_PERCENT = 10;

/** A bar that redraws itself on a terminal; elsewhere one line per change, so that logs stay readable. Writes to stderr. */
export function createProgress(terminal: Pick<Terminal, "stderr" | "env">, options: ProgressOptions = {}): Progress {
  if (options.silent) return { update: () => {}, finish: () => {} };
  return terminal.stderr.isTTY && terminal.env["TERM"] !== "dumb"
    ? barProgress(terminal, options)
    : lineProgress(terminal);
}

function barProgress(terminal: Pick<Terminal, "stderr" | "env">, { now = Date.now }: ProgressOptions): Progress {
  const paint = paintFor(wantsColor(terminal.stderr, terminal.env));
  let lastDrawn = Number.NEGATIVE_INFINITY;
  let startedAt = now();
  let label: string | undefined;
  let shown = false;
  const clear = (): void => {
    if (shown) terminal.stderr.write("\r\u001b[K");
    shown = false;
  };
  return {
    update(state) {
      const time = now();
      if (state.label !== label) startedAt = time;
      const finished = state.total !== undefined && state.done === state.total;
      if (state.label === label && !finished && time - lastDrawn < REDRAW_MS) return;
      label = state.label;
      lastDrawn = time;
      const parts = [paint.bold(state.label), ...barParts(state, time - startedAt, paint.cyan, paint.dim)];
      terminal.stderr.write(`\r\u001b[K${cutToWidth(parts.join("  "), terminal.stderr.columns ?? 80)}`);
      shown = true;
    },
    finish(text) {
      clear();
      if (text !== undefined) terminal.stderr.write(`${text}\n`);
    },
  };
}

function barParts(
  state: ProgressState,
  elapsed: number,
  color: (t: string) => string,
  dim: (t: string) => string,
): string[] {
  const parts: string[] = [];
  if (state.total !== undefined && state.total > 0) {
    const share = Math.min(1, (state.done ?? 0) / state.total);
    const full = Math.round(share * BAR_WIDTH);
    parts.push(
      `${color("━".repeat(full))}${dim("─".repeat(BAR_WIDTH - full))} ${String(Math.floor(share * 100)).padStart(3)}%`,
    );
    if (state.detail) parts.push(state.detail);
    if (share > 0 && share < 1 && elapsed > 1000)
      parts.push(dim(`${formatDuration((elapsed / share) * (1 - share))} left`));
  } else if (state.detail) parts.push(state.detail);
  return parts;
}

/** Cuts by visible characters; a wrapped bar would leave its first line behind at each redraw. */
function cutToWidth(text: string, width: number): string {
  let visible = 0;
  let result = "";
  for (const part of text.split(/(\u001b\[[0-9;]*m)/)) {
    if (part.startsWith("\u001b[")) result += part;
    else {
      result += part.slice(0, Math.max(0, width - 1 - visible));
      visible += part.length;
    }
  }
  return result;
}

function lineProgress(terminal: Pick<Terminal, "stderr">): Progress {
  let label: string | undefined;
  let lastPercent = 0;
  return {
    update(state) {
      const percent = state.total ? Math.floor(((state.done ?? 0) / state.total) * 100) : undefined;
      const changed = state.label !== label;
      if (!changed && (percent === undefined || percent < lastPercent + LINE_EVERY_PERCENT)) return;
      label = state.label;
      lastPercent = percent ?? 0;
      const share = percent === undefined ? "" : ` ${percent}%`;
      terminal.stderr.write(`${state.label}${share}${state.detail ? ` (${state.detail})` : ""}\n`);
    },
    finish(text) {
      if (text !== undefined) terminal.stderr.write(`${text}\n`);
    },
  };
}
