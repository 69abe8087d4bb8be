import { describe, expect, it } from "vitest";
import { readEntry } from "./read-entry.js";
import { EntrySlicer } from "./slice-entry.js";

/** Reads an entry as ingestion does: from its bytes. */
function read(entry: object) {
  const bytes = Buffer.from(JSON.stringify(entry));
  return readEntry(
    new EntrySlicer((bytes, start, end) => bytes.toString("latin1", start, end)).slice(bytes, 0, bytes.length),
  );
}

const facts = (meta: object) => read({ pname: "a", version: "1", meta })!;

describe("name and version", () => {
  it.each([
    [{ pname: "firefox", version: "57.0", name: "firefox-57.0" }, "firefox", "57.0"],
    [{ name: "firefox-57.0.3" }, "firefox", "57.0.3"],
    [{ name: "gtk+3-2.1-pre" }, "gtk+3", "2.1-pre"],
    [{ name: "python3.9-requests-2.25.1" }, "python3.9-requests", "2.25.1"],
    [{ pname: "x", version: "", name: "x-0.1" }, "x", "0.1"],
    [{ pname: " x ", version: " 1\n" }, "x", "1"],
    [{ name: "unstable-2020-01-01" }, "unstable", "2020-01-01"],
  ])("%j", (entry, name, version) => {
    expect(read(entry)).toMatchObject({ name, version });
  });

  it.each([
    [{ name: "hook.sh" }],
    [{ name: "a-b" }],
    [{ pname: "x", version: "" }],
    [{ version: "1" }],
    [{}],
    [{ name: 3, version: 4 }],
  ])("%j has none", (entry) => {
    expect(read(entry)).toBeNull();
  });
});

describe("licence", () => {
  it.each<[unknown, string | null]>([
    ["GPL", "GPL"],
    [{ spdxId: "MIT", shortName: "mit", fullName: "MIT License" }, "MIT"],
    [{ shortName: "unfree", fullName: "Unfree" }, "unfree"],
    [{ fullName: "Some licence" }, "Some licence"],
    [[{ spdxId: "MIT" }, "BSD", { spdxId: "MIT" }], "MIT, BSD"],
    [[], null],
    [null, null],
    [{ url: "x" }, null],
    [true, null],
  ])("%j", (license, expected) => {
    expect(facts({ license }).license).toBe(expected);
  });
});

describe("the rest of meta", () => {
  it("prefers what identifies a maintainer, without addresses where a name is known", () => {
    const maintainers = [
      "Eelco Dolstra <e@example.org>",
      { email: "a@example.org", github: "andir", name: "Andreas" },
      { email: "b@example.org", name: "Berta" },
      { email: "c@example.org" },
      "plain",
    ];
    expect(facts({ maintainers }).maintainers).toEqual(["Eelco Dolstra", "andir", "Berta", "c@example.org", "plain"]);
  });

  it("takes platforms that are names", () => {
    const platforms = ["x86_64-linux", { system: "aarch64-linux" }, { cpu: { family: "arm" } }, "x86_64-linux"];
    expect(facts({ platforms }).platforms).toEqual(["x86_64-linux", "aarch64-linux"]);
  });

  it.each([
    ["/nix/store/abc-source/pkgs/x/default.nix:12", "pkgs/x/default.nix"],
    ["pkgs/x/y.nix:3", "pkgs/x/y.nix"],
    ["/tmp/pkgs-tree/pkgs/a.nix:3", "pkgs/a.nix"],
    ["/elsewhere/a.nix:3", "/elsewhere/a.nix"],
  ])("finds the source path in %s", (position, expected) => {
    expect(facts({ position }).sourcePath).toBe(expected);
  });

  it("keeps vulnerabilities, and notes insecurity without a reason", () => {
    expect(facts({ knownVulnerabilities: ["CVE-1\n  of old"] }).knownVulnerabilities).toEqual(["CVE-1 of old"]);
    expect(facts({ insecure: true }).knownVulnerabilities).toHaveLength(1);
    expect(facts({ insecure: false, knownVulnerabilities: [] }).knownVulnerabilities).toBeNull();
  });

  it("takes the first of several home pages and makes one line of a description", () => {
    const read = facts({ homepage: ["https://a.example", "https://b.example"], description: " Two\n  lines \0" });
    expect(read).toMatchObject({ homepage: "https://a.example", description: "Two lines" });
  });

  it("survives half a surrogate pair and strange types everywhere", () => {
    const bytes = Buffer.from(
      '{"pname":"a\\ud800","version":"1","meta":{"description":"\\udc00x","license":[[1]],"homepage":3,"maintainers":{},"platforms":"x","position":[],"knownVulnerabilities":"v"}}',
    );
    const read = readEntry(
      new EntrySlicer((bytes, start, end) => bytes.toString("latin1", start, end)).slice(bytes, 0, bytes.length),
    )!;
    expect(read.name).toBe("a\ufffd");
    expect(read).toMatchObject({ license: null, homepage: null, platforms: ["x"], knownVulnerabilities: ["v"] });
  });
});
