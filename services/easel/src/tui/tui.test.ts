import { readFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type OpenTerminal, openTerminal } from "../testing/open-terminal.js";
import { startEasel, type TestEasel } from "../testing/start-easel.js";
import { keyMap, shownKeys } from "./key-map.js";
import { editText } from "./text-field.js";

const ESC = "\u001b";
const ENTER = "\r";

let easel: TestEasel;
const opened: OpenTerminal[] = [];

beforeAll(async () => {
  easel = await startEasel();
});
afterEach(() => {
  for (const terminal of opened.splice(0)) terminal.kill();
});
afterAll(async () => {
  await easel?.stop();
});

async function openUi(url: string = easel.url): Promise<OpenTerminal> {
  const terminal = openTerminal({ args: ["tui", "--server", url], env: easel.folders.env });
  opened.push(terminal);
  // The footer of an open field comes with the first keys that are read.
  await terminal.waitFor(/stop typing/);
  return terminal;
}

/** Leaves the field under edit; keys sent with the Esc would be read as one with it. */
async function leaveField(terminal: OpenTerminal): Promise<void> {
  await terminal.waitFor(/stop typing/);
  terminal.type(ESC);
  await expect.poll(() => terminal.screen().includes("stop typing")).toBe(false);
}

/** Types a prompt into the field that is open at the start. */
async function draw(terminal: OpenTerminal, prompt: string): Promise<void> {
  await terminal.waitFor(/tiny:local/);
  terminal.type(prompt);
  await terminal.waitFor(new RegExp(prompt));
  terminal.type(ENTER);
}

describe("the terminal UI", () => {
  test("draws what is typed and shows steps, picture and seed", async () => {
    const terminal = await openUi();
    await draw(terminal, "a red fox");
    await terminal.waitFor(/tiny:local, seed \d+/);
    await terminal.waitFor(/▀/);
  });

  test("the gallery shows thumbnails, details, reuses settings and deletes after asking", async () => {
    const terminal = await openUi();
    await draw(terminal, "a blue boat");
    await terminal.waitFor(/seed \d+/);
    terminal.type("3");
    await terminal.waitFor(/1 of \d+.*a blue boat/);
    terminal.type(ENTER);
    await terminal.waitFor(/guidance:/);
    terminal.type("u");
    await terminal.waitFor(/prompt\s+a blue boat/);
    terminal.type("3");
    await terminal.waitFor(/1 of \d+.*a blue boat/);
    terminal.type("x");
    await terminal.waitFor(/Delete .*\?/);
    terminal.type("q");
    await expect.poll(() => terminal.screen()).not.toMatch(/Delete .*\?/);
    terminal.type("x");
    await terminal.waitFor(/Delete .*\?/);
    terminal.type("y");
    await expect
      .poll(async () =>
        (await easel.client.listGallery()).images.some((image) => image.metadata?.prompt === "a blue boat"),
      )
      .toBe(false);
  });

  test("a filter narrows the models; help lists every key; q leaves and gives the screen back", async () => {
    const terminal = await openUi();
    await leaveField(terminal);
    terminal.type("4");
    await terminal.waitFor(/sd15/);
    terminal.type("/tiny:local");
    await expect.poll(() => terminal.screen().includes("sd15")).toBe(false);
    await leaveField(terminal);
    terminal.type("?");
    await terminal.waitFor(/field above/);
    terminal.type("q");
    expect(await terminal.ended()).toBe(0);
    expect(terminal.written()).toContain("\u001b[?1049l");
  });

  test("keys that come all at once are read one by one, by the view that each one opens", async () => {
    const terminal = await openUi();
    await leaveField(terminal);
    await terminal.waitFor(/tiny:local/);
    terminal.type("4/tiny:local");
    await terminal.waitFor(/\/ tiny:local/);
    await expect.poll(() => terminal.screen().includes("sd15")).toBe(false);
    await leaveField(terminal);
    terminal.type("2?");
    await terminal.waitFor(/field above/);
    terminal.type("3\t\tq");
    expect(await terminal.ended()).toBe(0);
  });

  test("a running drawing is in the queue and can be cancelled there", async () => {
    const terminal = await openUi();
    terminal.type("slow one");
    await terminal.waitFor(/slow one/);
    await leaveField(terminal);
    // the model's details are here, and with them the field for negative prompts
    await terminal.waitFor(/negative/);
    // size and steps: two fields further down, typed
    for (const [downs, value] of [
      ["jjj", "512x512"],
      ["j", "150"],
    ] as const) {
      for (const key of downs) terminal.type(key);
      await terminal.waitFor(downs === "j" ? /› steps/ : /› size/);
      terminal.type(ENTER);
      await terminal.waitFor(/stop typing/);
      terminal.type(value);
      await terminal.waitFor(new RegExp(value));
      await leaveField(terminal);
    }
    terminal.type("d");
    await terminal.waitFor(/drawing/);
    terminal.type("2");
    await terminal.waitFor(/step \d+ of 150/);
    terminal.type("c");
    await terminal.waitFor(/cancelled/);
  });

  test("follows the size of the terminal", async () => {
    const terminal = await openUi();
    terminal.resize(60, 20);
    await expect.poll(() => terminal.screen().split("\n").length).toBe(20);
    await terminal.waitFor(/1 generate/);
  });

  test("says that the server is away and goes on when it is back", async () => {
    const first = await startEasel({ folders: easel.folders });
    const port = new URL(first.url).port;
    const terminal = await openUi(first.url);
    await terminal.waitFor(/tiny:local/);
    await first.program.stop("SIGKILL");
    await terminal.waitFor(/No server answers/);
    const second = await startEasel({ folders: easel.folders, flags: ["--port", port] });
    await expect.poll(() => terminal.screen().includes("No server answers")).toBe(false);
    await second.program.stop();
  });

  test("says why the gallery is off", async () => {
    const off = await startEasel({ folders: easel.folders, env: { SERVICE_OUTPUT_DIR: "" } });
    const terminal = await openUi(off.url);
    await leaveField(terminal);
    terminal.type("3");
    await terminal.waitFor(/The gallery is off:.*SERVICE_OUTPUT_DIR/);
    await off.program.stop();
  });
});

describe("keys", () => {
  test("the docs page lists every key as the key map has it", async () => {
    const page = await readFile(new URL("../../../../docs/easel-tui.md", import.meta.url), "utf8");
    const rows = keyMap.map((binding) => `| ${binding.scope} | ${shownKeys(binding)} | ${binding.doc} |`);
    const written = page.split("\n").filter((line) => /^\| (?!Where|--)/.test(line));
    expect(written.map((line) => line.replaceAll(/ +/g, " "))).toEqual(rows);
  });

  test("no key means two things in one place", () => {
    const seen = new Set<string>();
    for (const binding of keyMap) {
      for (const key of binding.keys) {
        const id = `${binding.scope} ${key}`;
        expect(seen.has(id), id).toBe(false);
        seen.add(id);
      }
    }
  });

  test("text is edited by character, also outside ASCII", () => {
    const typed = editText({ text: "añ", cursor: 2 }, "x", "🦊\n");
    expect(typed).toEqual({ text: "añ🦊 ", cursor: 4 });
    expect(editText(typed!, "backspace", "")).toEqual({ text: "añ🦊", cursor: 3 });
    expect(editText({ text: "two words", cursor: 9 }, "ctrl+w", "")).toEqual({ text: "two ", cursor: 4 });
    expect(editText({ text: "abc", cursor: 1 }, "left", "")).toEqual({ text: "abc", cursor: 0 });
  });
});
