import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEasel, type TestEasel } from "../../testing/start-easel.js";

let easel: TestEasel;
beforeAll(async () => {
  easel = await startEasel({ flags: ["--max-queue", "2"] });
});
afterAll(() => easel.stop());

const small = { prompt: "a boat", width: 64, height: 64, steps: 5, seed: 4 };
const long = { ...small, steps: 150, width: 512, height: 512 };

async function startDetached(body: typeof small): Promise<string> {
  const response = await easel.client.generateStream.response({ body, query: { detach: true } });
  await response.body?.cancel();
  return response.headers.get("x-service-job-id")!;
}

async function ended(id: string) {
  for (;;) {
    const job = await easel.client.getJob({ params: { id } });
    if (job.finished_at !== null) return job;
    await wait(10);
  }
}

async function readEvents(id: string, lastEventId?: string) {
  const events = [];
  const headers: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  for await (const event of easel.client.jobEvents.events({ params: { id }, headers })) events.push(event);
  return events;
}

test("a job has a row, a place in the list, and its events from any point on", async () => {
  const id = await startDetached(small);
  const all = await readEvents(id);
  expect(all[0]).toMatchObject({ event: "progress", data: { type: "queued" }, id: "1" });
  expect(all.at(-1)).toMatchObject({ event: "complete", data: { seed_used: 4 } });
  const half = all[Math.floor(all.length / 2)]!.id!;
  const rest = await readEvents(id, half);
  expect(rest.map((event) => event.id)).toEqual(all.slice(Number(half)).map((event) => event.id));
  expect(rest.at(-1)).toEqual(all.at(-1));
  expect(await readEvents(id, "nonsense")).toEqual(all);
  expect(await ended(id)).toMatchObject({
    id,
    state: "complete",
    position: null,
    model: "tiny:local",
    prompt: "a boat",
    seed: 4,
    steps: 5,
    step: 5,
    total: 5,
    batch: 1,
    error: null,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    started_at: expect.any(String),
    finished_at: expect.any(String),
  });
  expect((await easel.client.listJobs()).jobs.map((job) => job.id)).toContain(id);
});

test("several readers can follow one job", async () => {
  const id = await startDetached({ ...small, steps: 20 });
  const readers = await Promise.all(Array.from({ length: 10 }, () => readEvents(id)));
  for (const events of readers) expect(events.at(-1)?.event).toBe("complete");
});

test("cancelling: running, waiting, ended, unknown", async () => {
  const running = await startDetached(long);
  const waiting = await startDetached(small);
  expect(await easel.client.cancelJob({ params: { id: waiting } })).toEqual({ id: waiting, state: "queued" });
  expect(await easel.client.cancelJob({ params: { id: running } })).toEqual({ id: running, state: "running" });
  expect((await ended(running)).state).toBe("cancelled");
  expect(await ended(waiting)).toMatchObject({ state: "cancelled", step: 0, started_at: null });
  await expect(easel.client.cancelJob({ params: { id: running } })).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining("already ended"),
  });
  await expect(easel.client.getJob({ params: { id: "nobody" } })).rejects.toMatchObject({
    status: 404,
    code: "NOT_FOUND",
  });
  await expect(readEvents("nobody")).rejects.toMatchObject({ status: 404, code: "NOT_FOUND" });
});

test("a job cancelled by another hand answers its raw request with 499", async () => {
  const answer = easel.client.generate({ body: long }).catch((error: unknown) => error);
  let id: string | undefined;
  while (id === undefined) {
    id = (await easel.client.listJobs()).jobs.find((job) => job.state === "running")?.id;
    await wait(10);
  }
  await easel.client.cancelJob({ params: { id } });
  expect(await answer).toMatchObject({ status: 499, code: "CANCELLED" });
});

test("a full queue answers 503 with Retry-After, and takes jobs again later", async () => {
  const ids = [await startDetached(long), await startDetached(small), await startDetached(small)];
  const refused = await easel.client.generate({ body: small }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    status: 503,
    code: "QUEUE_FULL",
    message: expect.stringContaining("2 jobs are waiting"),
  });
  expect(Number((refused as { headers: Headers }).headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  const streamed = await easel.client.generateStream.response({ body: small }).catch((error: unknown) => error);
  expect(streamed).toMatchObject({ status: 503, code: "QUEUE_FULL" });
  await easel.client.cancelJob({ params: { id: ids[0]! } });
  await Promise.all(ids.map(ended));
  expect((await easel.client.generate({ body: small })).contentType).toBe("image/png");
});
