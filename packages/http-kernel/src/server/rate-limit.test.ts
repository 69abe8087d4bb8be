import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRateLimit, RateLimiter, type RateLimitRule } from "./rate-limit.js";

function limiterAt(rate: string, burst?: string) {
  let time = 0;
  const limiter = new RateLimiter(parseRateLimit(rate, burst) as RateLimitRule, { now: () => time, maxKeys: 100 });
  return {
    limiter,
    pass: (ms: number) => {
      time += ms;
    },
  };
}

describe("parseRateLimit", () => {
  it.each([
    ["10", 10 / 1000, 20],
    ["10/s", 10 / 1000, 20],
    ["60/min", 60 / 60_000, 120],
    ["5/h", 5 / 3_600_000, 10],
  ])("reads %s", (text, tokensPerMs, burst) => expect(parseRateLimit(text)).toEqual({ tokensPerMs, burst }));
  it("takes a burst of its own", () => expect(parseRateLimit("10", "3")?.burst).toBe(3));
  it("nothing is no limit", () => expect(parseRateLimit(undefined)).toBeUndefined());
  it.each(["0", "-1", "1.5", "ten", "10/d", "10 /s x", "1e3", "99999999999"])("refuses %s and names it", (text) => {
    expect(() => parseRateLimit(text)).toThrow(new RegExp(`--rate-limit: '${text}'`));
  });
  it.each(["0", "x", "-3", "1.5"])("refuses the burst %s", (burst) =>
    expect(() => parseRateLimit("1", burst)).toThrow("--rate-limit-burst"),
  );
  it("a burst without a rate makes no sense", () =>
    expect(() => parseRateLimit(undefined, "3")).toThrow("needs --rate-limit"));
});

describe("RateLimiter", () => {
  it("lets the burst through and then the rate", () => {
    const { limiter, pass } = limiterAt("2/s", "4");
    expect([1, 2, 3, 4].map(() => limiter.take("a").allowed)).toEqual([true, true, true, true]);
    const refused = limiter.take("a");
    expect(refused).toMatchObject({ allowed: false, remaining: 0, retryAfterSeconds: 1, resetSeconds: 2, limit: 4 });
    pass(499);
    expect(limiter.take("a").allowed).toBe(false);
    pass(1);
    expect(limiter.take("a").allowed).toBe(true);
    expect(limiter.take("a").allowed).toBe(false);
  });
  it("says how long to wait", () => {
    const { limiter, pass } = limiterAt("1/h", "1");
    limiter.take("a");
    expect(limiter.take("a").retryAfterSeconds).toBe(3600);
    pass(1_800_000);
    expect(limiter.take("a").retryAfterSeconds).toBe(1800);
  });
  it("keeps clients apart", () => {
    const { limiter } = limiterAt("1/h", "1");
    expect([limiter.take("a"), limiter.take("b"), limiter.take("a")].map(({ allowed }) => allowed)).toEqual([
      true,
      true,
      false,
    ]);
  });
  it("forgets clients whose bucket is full again", () => {
    const { limiter, pass } = limiterAt("1/s", "2");
    for (let n = 0; n < 50; n++) limiter.take(`client ${n}`);
    expect(limiter.size).toBe(50);
    pass(1000);
    limiter.prune();
    expect(limiter.size).toBe(0);
  });
  it("never holds more keys than its bound, and keeps limiting", () => {
    const { limiter } = limiterAt("1/h", "1");
    for (let n = 0; n < 1000; n++) limiter.take(`client ${n}`);
    expect(limiter.size).toBeLessThanOrEqual(100);
    limiter.take("last");
    expect(limiter.take("last").allowed).toBe(false);
  });
  it("never lets more through than burst plus rate times time", () => {
    const steps = fc.array(fc.tuple(fc.nat(3000), fc.integer({ min: 1, max: 20 })), { maxLength: 30 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }), steps, (rate, burst, moves) => {
        const { limiter, pass } = limiterAt(String(rate), String(burst));
        let [elapsed, allowed] = [0, 0];
        for (const [ms, requests] of moves) {
          pass(ms);
          elapsed += ms;
          for (let n = 0; n < requests; n++) if (limiter.take("a").allowed) allowed++;
        }
        expect(allowed).toBeLessThanOrEqual(burst + (elapsed * rate) / 1000 + 1e-3);
      }),
    );
  });
});
