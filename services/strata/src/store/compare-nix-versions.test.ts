import { describe, expect, it } from "vitest";
import { compareNixVersions } from "../testing/reference-index.js";
import { compareCodePoints } from "./compare-code-points.js";
import { nixVersionKey } from "./compare-nix-versions.js";

/** What `builtins.compareVersions` of Nix 2.8 and 2.26 says. */
const cases: readonly (readonly [string, "<" | "=" | ">", string])[] = [
  ["1.0", "<", "2.3"],
  ["2.3", "=", "2.3"],
  ["2.3.1", ">", "2.3"],
  ["2.3.1", ">", "2.3a"],
  ["2.3pre1", "<", "2.3"],
  ["2.3pre3", "<", "2.3pre12"],
  ["2.3a", "<", "2.3c"],
  ["2.3pre1", "<", "2.3c"],
  ["1.0", "<", "1.0.0"],
  ["1.0", "=", "1-0"],
  ["1.0", "=", "1.00"],
  ["1.0", "=", "1.0."],
  ["", "<", "0"],
  ["", "<", "a"],
  ["", ">", "pre"],
  ["1.0rc1", ">", "1.0"],
  ["1.0rc1", "<", "1.0.1"],
  ["1.0beta", "<", "1.0rc"],
  ["1.0pre", "<", "1.0preview"],
  ["2147483647", ">", "2147483648"],
  ["2147483648", "<", "1"],
  ["4294967296", ">", "4294967295"],
  ["20240115", ">", "2024.01.15"],
  ["20240115123456", "<", "1"],
  ["99999999999", ">", "100000000000"],
  ["0-unstable-2024-01-01", "<", "0.1"],
  ["1.2.12-unstable-2025-02-13", ">", "1.2.12"],
  ["3.9", "<", "3.10"],
  ["1.A", "<", "1.a"],
  ["v1.0", "<", "1.0"],
  ["1..2", "=", "1.2"],
  ["-1", "=", "1"],
  ["01", "=", "1"],
  ["1.08", "=", "1.8"],
  ["pre", "<", "pre1"],
  ["1pre", "<", "1"],
  ["1.0.0-alpha.1", ">", "1.0.0-alpha.beta"],
  ["é", ">", "z"],
  ["1.0é", ">", "1.0z"],
];

describe("the order of versions", () => {
  it.each(cases)("%s %s %s", (a, order, b) => {
    const expected = { "<": -1, "=": 0, ">": 1 }[order];
    expect(Math.sign(compareCodePoints(nixVersionKey(a), nixVersionKey(b)))).toBe(expected);
    expect(Math.sign(compareCodePoints(nixVersionKey(b), nixVersionKey(a))) + expected).toBe(0);
    expect(compareNixVersions(a, b), "the reference of the property tests").toBe(expected);
  });
});
