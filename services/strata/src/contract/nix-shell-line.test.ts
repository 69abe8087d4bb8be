import { describe, expect, it } from "vitest";
import { nixShellLine } from "./nix-shell-line.js";

const HASH = "a".repeat(40);
const record = (attribute_path: string, last_commit_date: string, known_vulnerabilities: string[] | null = null) => ({
  attribute_path,
  last_commit_hash: HASH,
  last_commit_date,
  known_vulnerabilities,
});

describe("the line to paste", () => {
  it("is a flake from 2020-03-26 on", () => {
    expect(nixShellLine(record("hello", "2020-03-26T00:00:00Z"))).toBe(`nix shell nixpkgs/${HASH}#hello`);
    expect(nixShellLine(record("python3Packages.requests", "2026-01-01T00:00:00Z"))).toBe(
      `nix shell nixpkgs/${HASH}#python3Packages.requests`,
    );
  });

  it("is nix-shell with the tree's archive before", () => {
    expect(nixShellLine(record("hello", "2020-03-25T23:59:59Z"))).toBe(
      `nix-shell -p hello -I nixpkgs=https://github.com/NixOS/nixpkgs/archive/${HASH}.tar.gz`,
    );
  });

  it("allows insecure packages where that is needed", () => {
    expect(nixShellLine(record("hello", "2021-01-01T00:00:00Z", ["CVE-1"]))).toBe(
      `NIXPKGS_ALLOW_INSECURE=1 nix shell --impure nixpkgs/${HASH}#hello`,
    );
    expect(nixShellLine(record("hello", "2019-01-01T00:00:00Z", ["CVE-1"]))).toBe(
      `NIXPKGS_ALLOW_INSECURE=1 nix-shell -p hello -I nixpkgs=https://github.com/NixOS/nixpkgs/archive/${HASH}.tar.gz`,
    );
    expect(nixShellLine(record("hello", "2021-01-01T00:00:00Z", []))).not.toContain("INSECURE");
  });

  it("quotes what the shell or Nix would misread", () => {
    expect(nixShellLine(record("4ti2", "2019-01-01T00:00:00Z"))).toContain(`-p 'pkgs."4ti2"' `);
    expect(nixShellLine(record("a b", "2021-01-01T00:00:00Z"))).toBe(`nix shell 'nixpkgs/${HASH}#a b'`);
    expect(nixShellLine(record("it's; rm", "2021-01-01T00:00:00Z"))).toBe(`nix shell 'nixpkgs/${HASH}#it'\\''s; rm'`);
  });
});
