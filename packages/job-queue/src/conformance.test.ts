import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  createMemoryQueue,
  JobCancelledError,
  type JobQueue,
  openJournalQueue,
  QueueClosedError,
  QueueFullError,
  type QueueOptions,
} from "./index.js";

type Options = QueueOptions<string, string>;
type Make = (options: Options) => Promise<JobQueue<string, string>>;

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const action of cleanUp.splice(0)) await action();
});

const implementations: Record<string, Make> = {
  "in memory": async (options) => createMemoryQueue(options),
  "journal on disk": async (options) => {
    const folder = await mkdtemp(join(tmpdir(), "queue-"));
    cleanUp.push(() => rm(folder, { recursive: true }));
    const codec = { encode: (payload: string) => payload, decode: (json: unknown) => String(json) };
    return openJournalQueue({ ...options, path: join(folder, "jobs.journal"), codec });
  },
};

/** A worker whose jobs end when the test says so. */
function createGate() {
  const waiting = new Map<string, (result?: Error) => void>();
  const order: string[] = [];
  const run: Options["run"] = (job, signal) =>
    new Promise((resolve, reject) => {
      order.push(job.payload);
      waiting.set(job.payload, (error) => (error ? reject(error) : resolve(`done ${job.payload}`)));
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return {
    run,
    order,
    until,
    async finish(payload: string, error?: Error) {
      await until(() => waiting.has(payload));
      waiting.get(payload)!(error);
    },
  };
}

describe.each(Object.entries(implementations))("%s", (_name, make) => {
  test("a job runs and its result comes back", async () => {
    const gate = createGate();
    const queue = await make({ run: gate.run, maxWaiting: 2 });
    queue.start();
    const ticket = await queue.reserve("a").submit("fox");
    await gate.finish("fox");
    expect(await ticket.finished).toBe("done fox");
    expect(queue.counts()).toEqual({ reserved: 0, waiting: 0, running: 0 });
    expect(queue.position(ticket.job.id)).toBeUndefined();
  });

  test("a failing job fails alone", async () => {
    const gate = createGate();
    const queue = await make({ run: gate.run, maxWaiting: 2 });
    queue.start();
    const bad = await queue.reserve("a").submit("bad");
    const good = await queue.reserve("a").submit("good");
    await gate.finish("bad", new Error("no paint left"));
    await gate.finish("good");
    await expect(bad.finished).rejects.toThrow("no paint left");
    expect(await good.finished).toBe("done good");
  });

  test("reserving counts before anything is awaited, and a released place is free again", async () => {
    const gate = createGate();
    const queue = await make({ run: gate.run, maxWaiting: 1 });
    queue.start();
    const first = queue.reserve("a");
    const second = queue.reserve("b");
    expect(() => queue.reserve("c")).toThrow(QueueFullError);
    first.release();
    first.release();
    const third = queue.reserve("c");
    expect(() => queue.reserve("d")).toThrow(QueueFullError);
    second.release();
    third.release();
    expect(queue.counts().reserved).toBe(0);
  });

  test("clients take turns", async () => {
    const gate = createGate();
    const queue = await make({ run: gate.run, maxWaiting: 20 });
    queue.start();
    for (const name of ["a1", "a2", "a3", "a4"]) await queue.reserve("a").submit(name);
    for (const name of ["b1", "b2"]) await queue.reserve("b").submit(name);
    const last = await queue.reserve("c").submit("c1");
    for (const name of ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]) await gate.finish(name);
    await last.finished;
    await gate.until(() => queue.counts().running === 0);
    expect(gate.order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
  });

  test("the last places are kept for clients that have nothing in line", async () => {
    const gate = createGate();
    const queue = await make({ run: gate.run, maxWaiting: 10 });
    queue.start();
    for (let i = 0; i < 10; i++) await queue.reserve("greedy").submit(`g${i}`);
    expect(() => queue.reserve("greedy")).toThrow(QueueFullError);
    expect(() => queue.reserve("newcomer")).not.toThrow();
    expect(() => queue.reserve("another")).toThrow(QueueFullError);
  });

  test("positions count the jobs ahead and move", async () => {
    const gate = createGate();
    const seen: [string, number][] = [];
    const names = new Map<string, string>();
    const queue = await make({
      run: gate.run,
      maxWaiting: 5,
      onPosition: (id, position) => seen.push([names.get(id)!, position]),
    });
    queue.start();
    const submit = (client: string, name: string) => {
      const place = queue.reserve(client);
      names.set(place.id, name);
      return place.submit(name);
    };
    const first = await submit("a", "a1");
    const second = await submit("a", "a2");
    const third = await submit("a", "a3");
    await submit("b", "b1");
    expect(queue.position(third.job.id)).toBe(3);
    await gate.finish("a1");
    await first.finished;
    await gate.until(() => queue.position(second.job.id) === 0);
    expect(seen).toEqual([
      ["a1", 0],
      ["a2", 1],
      ["a3", 2],
      ["b1", 2],
      ["a3", 3],
      ["a2", 0],
      ["b1", 1],
      ["a3", 2],
    ]);
    expect(queue.position("nobody")).toBeUndefined();
  });

  test("cancelling a waiting job moves the others up, cancelling a running one aborts its signal", async () => {
    const gate = createGate();
    const queue = await make({ run: gate.run, maxWaiting: 5 });
    queue.start();
    const running = await queue.reserve("a").submit("running");
    const waiting = await queue.reserve("a").submit("waiting");
    const behind = await queue.reserve("a").submit("behind");
    await gate.until(() => gate.order.includes("running"));
    expect(queue.cancel(waiting.job.id)).toBe("waiting");
    await expect(waiting.finished).rejects.toThrow(JobCancelledError);
    expect(queue.position(behind.job.id)).toBe(1);
    expect(queue.cancel(running.job.id)).toBe("running");
    await expect(running.finished).rejects.toThrow(JobCancelledError);
    expect(queue.cancel(running.job.id)).toBeUndefined();
    await gate.finish("behind");
    expect(await behind.finished).toBe("done behind");
    expect(gate.order).toEqual(["running", "behind"]);
  });

  test("Retry-After follows the recent durations and the running job", async () => {
    const gate = createGate();
    let clock = 0;
    const queue = await make({ run: gate.run, maxWaiting: 0, now: () => clock });
    queue.start();
    const first = await queue.reserve("a").submit("first");
    await gate.until(() => gate.order.length === 1);
    clock = 30_000;
    await gate.finish("first");
    await first.finished;
    await queue.reserve("a").submit("second");
    await gate.until(() => gate.order.length === 2);
    clock += 10_000;
    expect(queue.retryAfterSeconds()).toBe(20);
    clock += 60_000;
    expect(queue.retryAfterSeconds()).toBe(1);
    expect(() => queue.reserve("b")).toThrow(/Try again in 1 s/);
  });

  test("several may run at a time", async () => {
    const gate = createGate();
    const queue = await make({ run: gate.run, maxWaiting: 5, concurrency: 2 });
    queue.start();
    for (const name of ["1", "2", "3"]) await queue.reserve("a").submit(name);
    await gate.until(() => gate.order.length === 2);
    expect(queue.counts()).toEqual({ reserved: 0, waiting: 1, running: 2 });
  });

  test("closing refuses new jobs, gives the running one its time, then aborts it", async () => {
    const gate = createGate();
    const queue = await make({ run: gate.run, maxWaiting: 5 });
    queue.start();
    const quick = await queue.reserve("a").submit("quick");
    const slow = await queue.reserve("a").submit("slow");
    await gate.until(() => gate.order.length === 1);
    const closed = queue.close({ deadlineMs: 1_000 });
    expect(() => queue.reserve("b")).toThrow(QueueClosedError);
    await gate.finish("quick");
    expect(await quick.finished).toBe("done quick");
    await closed;
    await expect(slow.finished).rejects.toThrow(QueueClosedError);
    expect(queue.counts().running).toBe(0);
  });
});
