import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLog, type KernelServer } from "@kit/http-kernel";
import { browserPath, openBrowser } from "@kit/http-kernel/testing";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createPackageServer } from "../http/create-package-server.js";
import { SAMPLE_PATH } from "../sample/sample-location.js";

/** The built page in a real browser, on the real server with the sample. */

const PAGES = fileURLToPath(new URL("../../dist-web", import.meta.url));
const isBuilt = existsSync(join(PAGES, "index.html")) && existsSync(SAMPLE_PATH);
if (browserPath === undefined || !isBuilt) {
  const reason =
    browserPath === undefined ? "no Chromium was found (set CHROMIUM_PATH)" : "the page is not built (npm run build)";
  console.log(`strata's page is not tested: ${reason}.`);
}

let server: KernelServer;
let url: string;
let browser: Browser;
let folder: string;
let page: Page;
let foreign: string[];
let complaints: string[];

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  page = await context.newPage();
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) {
      foreign.push(request.url());
    }
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(url + path);
  return page;
}

describe.skipIf(browserPath === undefined || !isBuilt)("the page", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "strata-page-"));
    server = await createPackageServer({
      indexPath: join(folder, "none.strata"),
      samplePath: SAMPLE_PATH,
      version: "0.0.0",
      log: createLog({ name: "strata", level: "silent" }),
      pageCacheBytes: 0,
      pages: { directory: PAGES, deepLinks: ["/package/*", "/search"] },
    });
    ({ url } = await server.listen({ host: "127.0.0.1", port: 0 }));
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    await page?.context().close();
    expect(foreign, "requests to other hosts").toEqual([]);
    expect(complaints, "errors in the page").toEqual([]);
  });
  const start = async (path: string, options: BrowserContextOptions = {}) => {
    foreign = [];
    complaints = [];
    return open(path, options);
  };

  it("shows what the index holds, that it is a sample, and how it grew", async () => {
    await start("/");
    await page.getByText("This is a sample").waitFor();
    await page.getByText("strata ingest channel URL").waitFor();
    await page.getByRole("img", { name: /^Packages: attribute paths/ }).waitFor();
    expect(await page.locator(".plot .bar").count()).toBeGreaterThan(100);
    await page.getByText("The numbers, year by year").click();
    await page.getByRole("rowheader", { name: "2020" }).waitFor();
  });

  it("searches as one types, and the address says what is searched", async () => {
    await start("/");
    await page.getByText("This is a sample").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("firefo");
    await page
      .getByRole("link", { name: /^firefox \d/ })
      .first()
      .waitFor();
    await page.waitForURL(`${url}/search?q=firefo`);
    await page.keyboard.type("x-esr");
    await page.getByRole("link", { name: /^firefox-esr/ }).waitFor();
    await expect.poll(() => page.locator(".result").count()).toBe(1);
    await page.goBack();
    await page.waitForURL(`${url}/`);
  });

  it("goes through results with the arrow keys and opens one with Enter", async () => {
    await start("/search?q=firefox");
    await page.locator(".result").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.locator('[href="/package/firefox"]:focus').waitFor();
    await page.keyboard.press("ArrowUp");
    await page.locator("[name=q]:focus").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator('[href="/package/firefox"]:focus').waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "firefox", exact: true }).waitFor();
    await page.waitForURL(`${url}/package/firefox`);
  });

  it("filters by version and licence, exactly, and orders; all of it in the address", async () => {
    await start("/search?q=python");
    await page.getByLabel("Version", { exact: true }).fill("3.8");
    await expect.poll(() => page.url()).toContain("version=3.8");
    await page.getByLabel("Licence").fill("python");
    await page.getByLabel("Exact name").check();
    await page.getByLabel("Order").selectOption("version");
    await page.getByLabel("Reverse").check();
    await page.waitForURL(`${url}/search?q=python&version=3.8&license=python&exact=true&reverse=true&sort=version`);
    await page.getByText(/Nothing found/).waitFor();
    await page.getByText("Search without the filters").click();
    await page.locator(".result").first().waitFor();
  });

  it("restores every state from its address", async () => {
    await start("/search?q=python38&version=3.8&sort=version&reverse=true");
    await page.locator(".result .version").first().waitFor();
    await expect.poll(() => page.locator(".result .version").first().textContent()).toBe("3.8.20");
    expect(await page.getByLabel("Reverse").isChecked()).toBe(true);
    expect(await page.getByLabel("Order").inputValue()).toBe("version");
    await page.goto(`${url}/search?q=web+server&in=descriptions`);
    await page.getByRole("link", { name: /caddy/ }).waitFor();
    expect(await page.getByLabel("Version", { exact: true }).isDisabled()).toBe(true);
  });

  it("shows a package with its history; versions can be chosen and linked", async () => {
    await start("/package/xz?version=5.6.1");
    await page.getByText("CVE-2024-3094").waitFor();
    const line = await page.locator(".lines code").first().textContent();
    expect(line).toMatch(/^NIXPKGS_ALLOW_INSECURE=1 nix shell --impure nixpkgs\/[0-9a-f]{40}#xz$/);
    expect(await page.locator(".timeline-row .bar.insecure").count()).toBeGreaterThan(0);
    await page.locator(".timeline-row", { hasText: "5.4.6" }).click();
    await page.waitForURL(`${url}/package/xz?version=5.4.6`);
    // Gone while 5.6 was there, and back: two bars.
    await expect.poll(() => page.locator(".timeline-row[aria-pressed=true] .bar").count()).toBe(2);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/version=(?!5\.4\.6)/);
  });

  it("copies the line", async () => {
    await start("/package/hello", { permissions: ["clipboard-read", "clipboard-write"] });
    const line = await page.locator(".lines code").first().textContent();
    await page.getByRole("button", { name: "Copy: In a shell" }).click();
    await page.getByText("Copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(line);
  });

  it("shows nested packages, odd names and what is not there", async () => {
    await start("/package/python312Packages.requests");
    await page.getByRole("heading", { name: "python312Packages.requests" }).waitFor();
    await page.goto(`${url}/package/nope%2F%3Cb%3E`);
    await page.getByText("Package 'nope/<b>' not found").waitFor();
    await page.goto(`${url}/package/hello?version=99`);
    await page.getByText("There is no version 99").waitFor();
  });

  it.each([320, 390])("fits a screen of %i pixels", async (width) => {
    await start("/", { viewport: { width, height: 800 } });
    for (const path of ["/", "/search?q=python", "/package/openssl", "/package/nope"]) {
      await page.goto(url + path);
      await page.locator("h1, h2, .result").first().waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(width);
    }
  });

  it.each(["light", "dark"] as const)("has text that can be read in %s colours (WCAG AA)", async (colorScheme) => {
    await start("/", { colorScheme });
    for (const path of ["/", "/search?q=python", "/search?q=zzzz", "/package/xz?version=5.6.1", "/package/nope"]) {
      await page.goto(url + path);
      await page.locator("h1, h2, .result").first().waitFor();
      expect(await page.evaluate(findFaintText), path).toEqual([]);
    }
  });

  it("keeps the colours that a visitor chose", async () => {
    await start("/", { colorScheme: "light" });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.getByRole("button", { name: /^Colours/ }).waitFor();
    const light = await ground();
    await page.getByRole("button", { name: /^Colours/ }).click();
    await page.getByRole("button", { name: "Colours: light" }).click();
    await page.getByRole("button", { name: "Colours: dark" }).waitFor();
    await expect.poll(ground).not.toBe(light);
    await page.reload();
    await page.getByRole("button", { name: "Colours: dark" }).waitFor();
    await expect.poll(ground).not.toBe(light);
  });
});

/** Runs in the page: every text whose contrast with its ground is below AA (4.5, or 3 for large text). */
function findFaintText(): string[] {
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = ([r = 0, g = 0, b = 0]: number[]) => {
    const linear = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!;
  };
  const groundOf = (element: Element | null): number[] => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) {
        return color;
      }
    }
    return [255, 255, 255];
  };
  const faint: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement!;
    const box = element.getBoundingClientRect();
    if (node.textContent!.trim() === "" || box.width < 2 || element.closest("[disabled], noscript, option") !== null) {
      continue;
    }
    const style = getComputedStyle(element);
    const color = channels(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [luminance(color), luminance(groundOf(element))].sort((x, y) => y - x) as [number, number];
    const isLarge =
      Number.parseFloat(style.fontSize) >= 24 ||
      (Number.parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < (isLarge ? 3 : 4.5)) {
      faint.push(`${contrast.toFixed(2)} ${node.textContent!.trim().slice(0, 30)}`);
    }
  }
  return faint;
}
