import { describe, expect, it } from "vitest";
import { parseCors } from "./cors.js";

describe("parseCors", () => {
  it("is off unless asked for", () => {
    expect(parseCors({})).toEqual({ kind: "off" });
    expect(parseCors({ cors: false, corsOrigins: " , " })).toEqual({ kind: "off" });
  });
  it("a list is narrower than all, and wins", () => {
    expect(parseCors({ cors: true })).toEqual({ kind: "all" });
    expect(parseCors({ cors: true, corsOrigins: "https://a.example" })).toEqual({
      kind: "list",
      origins: new Set(["https://a.example"]),
    });
  });
  it("writes origins as browsers send them", () => {
    const policy = parseCors({ corsOrigins: ["HTTPS://A.Example:443/", "http://localhost:3000", "http://[::1]:80"] });
    expect(policy.kind === "list" && [...policy.origins]).toEqual([
      "https://a.example",
      "http://localhost:3000",
      "http://[::1]",
    ]);
  });
  it.each([
    "a.example",
    "localhost:3000",
    "ftp://a.example",
    "https://a.example/path",
    "https://u:p@a.example",
    "https://",
    "*",
    "null",
  ])("refuses %s and names it", (origin) =>
    expect(() => parseCors({ corsOrigins: `https://ok.example,${origin}` })).toThrow(`'${origin}'`),
  );
});
