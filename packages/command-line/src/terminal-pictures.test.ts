import { describe, expect, test } from "vitest";
import { detectPictureProtocol, drawHalfBlocks, drawIterm2, drawKitty, drawSixel, pictureSize } from "./index.js";

const detect = (env: Record<string, string>, isTTY = true) =>
  detectPictureProtocol({ env, stdout: { isTTY } as never });

describe("which protocol", () => {
  test.each([
    [{ TERM: "xterm-kitty" }, "kitty"],
    [{ TERM: "xterm-256color", KITTY_WINDOW_ID: "1" }, "kitty"],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, "iterm2"],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "WezTerm" }, "iterm2"],
    [{ TERM: "foot" }, "sixel"],
    [{ TERM: "xterm-256color" }, "half-blocks"],
    [{ TERM: "tmux-256color", TMUX: "/tmp/x", KITTY_WINDOW_ID: "1" }, "half-blocks"],
    [{ TERM: "dumb" }, "none"],
  ])("%j: %s", (env, protocol) => {
    expect(detect(env as Record<string, string>)).toBe(protocol);
  });

  test("none when the output is no terminal", () => {
    expect(detect({ TERM: "xterm-kitty" }, false)).toBe("none");
  });
});

test("a picture keeps its shape inside the room it is given", () => {
  expect(pictureSize({ width: 512, height: 512 }, { columns: 80, rows: 20 }, "half-blocks")).toEqual({
    columns: 40,
    rows: 20,
    width: 40,
    height: 40,
  });
  expect(pictureSize({ width: 1024, height: 256 }, { columns: 40, rows: 20 }, "sixel")).toEqual({
    columns: 40,
    rows: 5,
    width: 320,
    height: 80,
  });
});

test("half-blocks show two rows of pixels a line", () => {
  const rgb = Uint8Array.from([255, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 255]);
  expect(drawHalfBlocks({ width: 2, height: 2, rgb })).toBe("\u001b[38;2;255;0;0;48;2;0;0;255m▀▀\u001b[0m");
});

test("kitty data goes in chunks, the last one marked", () => {
  const drawn = drawKitty(new Uint8Array(4000), { columns: 4, rows: 2 });
  const sequences = drawn.split("\u001b\\").slice(0, -1);
  expect(sequences).toHaveLength(2);
  expect(sequences[0]).toMatch(/^\u001b_Ga=T,f=100,q=2,c=4,r=2,m=1;/);
  expect(sequences[1]).toMatch(/^\u001b_Gm=0;/);
});

test("sixel and iTerm2 sequences are framed as their terminals expect", async () => {
  const sixel = await drawSixel({ width: 2, height: 6, rgb: new Uint8Array(36).fill(200) });
  expect(sixel).toMatch(/^\u001bP.*q[\s\S]*\u001b\\$/);
  expect(drawIterm2(new Uint8Array([1, 2, 3]), { columns: 2, rows: 1 })).toBe(
    "\u001b]1337;File=inline=1;size=3;width=2;height=1;preserveAspectRatio=1:AQID\u0007",
  );
});
