import { describe, expect, it } from "vitest";
import { parseTrustProxy, rateLimitKey } from "./client-address.js";

describe("rateLimitKey", () => {
  it.each([
    ["1.2.3.4", "1.2.3.4"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["64:ff9b::1.2.3.4", "64:ff9b:0:0::/64"],
    ["1:2:3:4:5:6:7::", "1:2:3:4::/64"],
  ])("%s counts as %s", (address, key) => expect(rateLimitKey(address, "9.9.9.9")).toBe(key));
  it.each(["", "garbage", "1.2.3.4:80", "999.1.1.1", "x".repeat(10_000)])(
    "%s is no address and counts as the socket's",
    (text) => {
      expect(rateLimitKey(text, "9.9.9.9")).toBe("9.9.9.9");
    },
  );
});

describe("parseTrustProxy", () => {
  it("reads all its forms", () => {
    expect(parseTrustProxy(undefined)).toBe(false);
    expect(parseTrustProxy("false")).toBe(false);
    expect(parseTrustProxy("true")).toBe(true);
    expect(parseTrustProxy(true)).toBe(true);
    expect(parseTrustProxy("10.0.0.0/8, ::1")).toEqual(["10.0.0.0/8", "::1"]);
    const hops = parseTrustProxy("2");
    expect(typeof hops === "function" && [0, 1, 2].map((hop) => hops("any", hop))).toEqual([true, true, false]);
  });
  it.each(["nonsense", "10.0.0.0/33", "::1/129", "10.0.0.0/8/8", "10.0.0.0/x", "1.2.3.4,,"])("refuses %s", (text) => {
    expect(() => parseTrustProxy(text)).toThrow("--trust-proxy");
  });
});
