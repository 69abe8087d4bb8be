import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createProgress, displayWidth, formatBytes, formatCount, formatDuration, printable } from "./index.js";

function terminal(isTTY: boolean) {
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 60 });
  return { stderr, env: { NO_COLOR: "1" }, read: () => stderr.read()?.toString() ?? "" };
}

test("off a terminal there is one line per change", () => {
  const out = terminal(false);
  const progress = createProgress(out);
  for (let done = 0; done <= 100; done++) progress.update({ label: "reading", done, total: 100 });
  progress.update({ label: "writing" });
  progress.finish("done");
  const lines = out.read().trimEnd().split("\n");
  expect(lines[0]).toBe("reading 0%");
  expect(lines).toHaveLength(13);
  expect(lines.slice(-2)).toEqual(["writing", "done"]);
});

test("on a terminal the bar redraws in place, fits the width and tells the time left", () => {
  const out = terminal(true);
  let time = 0;
  const progress = createProgress(out, { now: () => time });
  progress.update({ label: "reading", done: 0, total: 10, detail: "x".repeat(100) });
  time = 5000;
  progress.update({ label: "reading", done: 5, total: 10 });
  progress.finish();
  const written = out.read();
  expect(written).toContain("5.0 s left");
  expect(written.endsWith("\r\u001b[K")).toBe(true);
  for (const line of written.split("\r\u001b[K")) expect(displayWidth(line)).toBeLessThan(60);
});

test("figures are written for people", () => {
  expect([0, 1536, 5 * 2 ** 30].map(formatBytes)).toEqual(["0 B", "1.5 KiB", "5.0 GiB"]);
  expect([5, 1500, 83_000, 7_260_000].map(formatDuration)).toEqual(["5 ms", "1.5 s", "1m 23s", "2h 01m"]);
  expect(formatCount(1751848)).toBe("1,751,848");
});

test("widths count wide characters twice, and control characters never reach the terminal", () => {
  expect([displayWidth("日本"), displayWidth("é"), displayWidth("\u001b[31mx\u001b[39m")]).toEqual([4, 1, 1]);
  expect(printable("a\u001b[2Jb\nc")).toBe("a [2Jb c");
});
