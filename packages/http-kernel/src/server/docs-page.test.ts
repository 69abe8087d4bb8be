// The documentation page in a real browser: it must render with no host but our own.
import { describe, expect, it } from "vitest";
import { useFixture } from "../testing/fixture/use-fixture.js";
import { browserPath, inBrowser, openBrowser } from "../testing/open-browser.js";

const RENDER_MS = 45_000;
const SETTLE_MS = 2000;

describe.skipIf(browserPath === undefined)(inBrowser("the documentation page"), () => {
  const fixture = useFixture();
  it("renders every operation and asks no other host for anything", async () => {
    const browser = await openBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      const hosts = new Set<string>();
      const problems: string[] = [];
      page.on("request", (request) => {
        const { protocol, host } = new URL(request.url());
        if (protocol.startsWith("http")) hosts.add(host);
      });
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error") problems.push(message.text());
      });
      await page.goto(`${fixture.url()}/docs`);
      await page.getByText("Create an item").first().waitFor({ timeout: RENDER_MS });
      // Late requests (fonts, telemetry) would come now.
      await page.waitForTimeout(SETTLE_MS);
      const picture = process.env["DOCS_SCREENSHOT"];
      if (picture !== undefined) await page.screenshot({ path: picture });
      expect([...hosts]).toEqual([new URL(fixture.url()).host]);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
