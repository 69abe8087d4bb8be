import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const CANDIDATES = [
  process.env["CHROMIUM_PATH"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** The browser of this machine; undefined where there is none, and then tests of pages are skipped. */
export const browserPath = CANDIDATES.find((path) => path !== undefined && existsSync(path));

/** What to call a suite that needs a browser, so that a skipped one says why. */
export const inBrowser = (title: string): string =>
  browserPath === undefined
    ? `${title} (skipped: no Chromium found; install Debian's chromium or set CHROMIUM_PATH)`
    : title;

/** A browser that talks to nobody of its own accord. */
export function openBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error("no Chromium found");
  return chromium.launch({
    executablePath: browserPath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
