import { appendFile, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openJournalQueue, QueueClosedError } from "./index.js";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "journal-"));
  path = join(folder, "deep", "jobs.journal");
});
afterEach(() => rm(folder, { recursive: true }));

const codec = {
  encode: (payload: Buffer) => payload.toString("base64"),
  decode: (json: unknown) => {
    if (typeof json !== "string") throw new Error("payload is no string");
    return Buffer.from(json, "base64");
  },
};
const never = () => new Promise<string>(() => {});
/** Until so many beginnings of jobs are on disk. */
const starts = (count: number) =>
  expect.poll(async () => (await readFile(path, "utf8")).split('"op":"start"').length - 1).toBe(count);

/** A process that dies leaves its lock; this test is still the same process, which counts as dead. */
const open = (run: (payload: string) => Promise<string>, more: { compactAboveBytes?: number } = {}) => {
  const abandoned: string[] = [];
  return openJournalQueue<Buffer, string>({
    run: (job, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        run(job.payload.toString()).then(resolve, reject);
      }),
    maxWaiting: 10,
    path,
    codec,
    onAbandoned: (_id, why) => abandoned.push(why),
    ...more,
  }).then((queue) => ({ queue, abandoned }));
};

test("jobs that had not finished are there again, in order, with their payload; finished and cancelled ones are not", async () => {
  const first = await open((name) => (name === "done" ? Promise.resolve("ok") : never()));
  first.queue.start();
  const done = await first.queue.reserve("a").submit(Buffer.from("done"));
  await done.finished;
  const running = await first.queue.reserve("a").submit(Buffer.from("running"));
  const waiting = await first.queue.reserve("b").submit(Buffer.from("waiting"));
  const cancelled = await first.queue.reserve("b").submit(Buffer.from("cancelled"));
  first.queue.cancel(cancelled.job.id);
  await cancelled.finished.catch(() => {});
  await starts(2);

  const second = await open((name) => Promise.resolve(`again ${name}`));
  const left = second.queue.start();
  expect(left.map(({ job }) => [job.id, job.clientKey, job.payload.toString()])).toEqual([
    [running.job.id, "a", "running"],
    [waiting.job.id, "b", "waiting"],
  ]);
  expect(await Promise.all(left.map((ticket) => ticket.finished))).toEqual(["again running", "again waiting"]);
  await second.queue.close({ deadlineMs: 100 });

  const third = await open(never);
  expect(third.queue.start()).toEqual([]);
});

test("a clean stop keeps what had not finished and says so", async () => {
  const first = await open(never);
  first.queue.start();
  const running = await first.queue.reserve("a").submit(Buffer.from("one"));
  const waiting = await first.queue.reserve("a").submit(Buffer.from("two"));
  await first.queue.close({ deadlineMs: 10 });
  await expect(running.finished).rejects.toThrow(QueueClosedError);
  await expect(waiting.finished).rejects.toThrow(/kept/);
  const second = await open(never);
  expect(second.queue.start()).toHaveLength(2);
});

test("a torn last line and garbage are passed over", async () => {
  const first = await open(never);
  first.queue.start();
  await first.queue.reserve("a").submit(Buffer.from("whole"));
  await appendFile(path, '\u0000\u0001 nonsense\n{"op":"add","id":"torn","payl');
  const second = await open((name) => Promise.resolve(name));
  const left = second.queue.start();
  expect(left).toHaveLength(1);
  expect(await left[0]!.finished).toBe("whole");
});

test("a job that took the process down three times is given up and named", async () => {
  for (let attempt = 0; attempt < 3; attempt++) {
    const { queue, abandoned } = await open(never);
    if (attempt === 0) await queue.reserve("a").submit(Buffer.from("poison"));
    expect(abandoned).toEqual([]);
    queue.start();
    await starts(attempt + 1);
  }
  const { queue, abandoned } = await open(never);
  expect(queue.start()).toEqual([]);
  expect(abandoned).toEqual([expect.stringContaining("3 attempts")]);
});

test("the file does not grow with finished jobs", async () => {
  const { queue } = await open((name) => (name === "kept" ? never() : Promise.resolve("ok")), {
    compactAboveBytes: 4096,
  });
  queue.start();
  for (let i = 0; i < 100; i++) await (await queue.reserve("a").submit(Buffer.alloc(200))).finished;
  await queue.reserve("a").submit(Buffer.from("kept"));
  await expect.poll(() => readFile(path, "utf8")).toMatch(/"op":"start","id":"[^"]+"}\n$/);
  expect((await stat(path)).size).toBeLessThan(10_000);
  expect(await readFile(path, "utf8")).toContain(Buffer.from("kept").toString("base64"));
});

test("a journal in use by another process is refused by name", async () => {
  const { queue } = await open(never);
  await queue.close({ deadlineMs: 0 });
  await appendFile(`${path}.lock`, "1");
  await expect(open(never)).rejects.toThrow(/in use by process 1/);
});
