import { HttpError } from "@kit/http-kernel/contract";
import { describe, expect, it } from "vitest";
import { Admission } from "./admission.js";

/** A clock that only jobs move. */
function makeClock() {
  let now = 0;
  const spend = (ms: number) => {
    now += ms;
  };
  return { now: () => now, spend };
}

describe("admission", () => {
  it("computes at once while the turn has time", () => {
    const admission = new Admission({ turnMs: 5, now: makeClock().now });
    expect(admission.run(() => 7)).toBe(7);
    expect(() => admission.run(() => fail("broken"))).toThrow("broken");
  });

  it("makes later jobs wait for a later turn, in order, so that sockets are read in between", async () => {
    const clock = makeClock();
    const admission = new Admission({ turnMs: 5, now: clock.now });
    const order: string[] = [];
    const job = (name: string) => () => {
      clock.spend(4);
      order.push(name);
      return name;
    };
    const first = [admission.run(job("a")), admission.run(job("b"))];
    expect(first).toEqual(["a", "b"]);
    const waiting = ["c", "d", "e", "f"].map((name) => admission.run(job(name)));
    expect(order).toEqual(["a", "b"]);
    setImmediate(() => order.push("sockets"));
    expect(await Promise.all(waiting)).toEqual(["c", "d", "e", "f"]);
    expect(order).toEqual(["a", "b", "c", "d", "sockets", "e", "f"]);
  });

  it("refuses past the end of the line at once, with Retry-After", async () => {
    const clock = makeClock();
    const admission = new Admission({ turnMs: 1, longestLine: 2, now: clock.now });
    const slow = () => clock.spend(10);
    admission.run(slow);
    const waiting = [admission.run(slow), admission.run(slow)];
    const refusal = catchError(() => admission.run(slow));
    expect(refusal).toMatchObject({ code: "OVERLOADED", status: 503, headers: { "retry-after": "1" } });
    await Promise.all(waiting);
    await new Promise(setImmediate);
    expect(admission.run(() => 1)).toBe(1);
  });

  it("gives up on what has waited too long", async () => {
    const clock = makeClock();
    const admission = new Admission({ turnMs: 1, longestWaitMs: 100, now: clock.now });
    admission.run(() => clock.spend(5));
    const late = admission.run(() => "late") as Promise<string>;
    clock.spend(200);
    await expect(late).rejects.toMatchObject({ code: "TIMEOUT", status: 504 });
  });
});

function fail(message: string): never {
  throw new Error(message);
}

function catchError(run: () => unknown): HttpError {
  try {
    run();
  } catch (error) {
    if (error instanceof HttpError) return error;
  }
  throw new Error("nothing was thrown");
}
