import { request as httpRequest } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GenerateRequest } from "../../contract/generate.js";
import { startEasel, type TestEasel } from "../../testing/start-easel.js";

let easel: TestEasel;
beforeAll(async () => {
  easel = await startEasel({ flags: ["--max-queue", "150"] });
});
afterAll(() => easel.stop());

const small = { prompt: "a red fox", width: 64, height: 64, steps: 3 };
/** Long enough to be caught in the act. */
const long = { ...small, steps: 150, width: 512, height: 512 };

type Event = { event: string; data: Record<string, unknown>; id: string | undefined };

async function collect(body: GenerateRequest, options: { accept?: string; preview?: boolean } = {}): Promise<Event[]> {
  const events: Event[] = [];
  const stream = easel.client.generateStream.events({
    body,
    query: options.preview ? { preview: true } : {},
    headers: options.accept ? { accept: options.accept } : {},
  });
  for await (const event of stream) events.push(event as unknown as Event);
  return events;
}

const types = (events: readonly Event[]) =>
  events.map(({ event, data }) => (event === "progress" ? String(data["type"]) : event));

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await wait(10);
}
const idle = () =>
  waitFor(async () =>
    (await easel.client.listJobs()).jobs.every((job) => job.state !== "running" && job.state !== "queued"),
  );

/** A stream that the test can drop in the middle. Resolves when the headers are here. */
async function openStream(body: GenerateRequest, query = "", localAddress = "127.0.0.1") {
  let text = "";
  const opened = await new Promise<{ jobId: string; close: () => void; text: () => string; status: number }>(
    (resolve, reject) => {
      const outgoing = httpRequest(
        `${easel.url}/api/generate/stream${query}`,
        { method: "POST", headers: { "content-type": "application/json" }, localAddress },
        (response) => {
          response.on("data", (chunk: Buffer) => {
            text += chunk.toString();
          });
          response.on("error", () => {});
          resolve({
            jobId: String(response.headers["x-service-job-id"]),
            close: () => outgoing.destroy(),
            text: () => text,
            status: response.statusCode ?? 0,
          });
        },
      );
      outgoing.on("error", reject);
      outgoing.end(JSON.stringify(body));
    },
  );
  return opened;
}

describe("the events of a picture", () => {
  test("come in order, with exactly the contract's fields", async () => {
    const events = await collect({ ...small, seed: 42 });
    const names = types(events);
    expect(names[0]).toBe("queued");
    expect(names.at(-1)).toBe("complete");
    expect(names.indexOf("stage_start")).toBeLessThan(names.indexOf("denoise_step"));
    const steps = events.filter(({ data }) => data["type"] === "denoise_step").map(({ data }) => data);
    expect(steps.map(({ step, total }) => [step, total])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
    for (const step of steps) expect(Object.keys(step).sort()).toEqual(["elapsed_ms", "step", "total", "type"]);
    expect(steps.every((step, i) => i === 0 || Number(step["elapsed_ms"]) >= Number(steps[i - 1]!["elapsed_ms"]))).toBe(
      true,
    );
    const decoding = names.lastIndexOf("stage_start");
    expect(decoding).toBeGreaterThan(names.lastIndexOf("denoise_step"));
    expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, index) => index + 1));
  });

  test("complete is exactly a GenerateResponse whose integers are the picture", async () => {
    const events = await collect({ ...small, seed: 42, batch: 2 });
    const data = events.at(-1)!.data as { images: { data: number[]; index: number }[] } & Record<string, unknown>;
    expect(Object.keys(data).sort()).toEqual(["generation_time_ms", "images", "model", "seed_used"]);
    expect(data).toMatchObject({ model: "tiny:local", seed_used: 42, generation_time_ms: expect.any(Number) });
    expect(data.images.map(({ index }) => index)).toEqual([0, 1]);
    for (const image of data.images) {
      expect(Object.keys(image).sort()).toEqual(["data", "format", "height", "index", "width"]);
      expect(await sharp(Buffer.from(image.data)).metadata()).toMatchObject({ format: "png", width: 64, height: 64 });
    }
  });

  test("base64 on request, previews on request", async () => {
    const events = await collect(small, { accept: "text/event-stream;data=base64", preview: true });
    const { images } = events.at(-1)!.data as { images: { data: string }[] };
    expect(await sharp(Buffer.from(images[0]!.data, "base64")).metadata()).toMatchObject({ format: "png" });
    const previews = events.filter(({ data }) => data["type"] === "preview");
    expect(previews.length).toBeGreaterThan(0);
    const picture = Buffer.from(String(previews[0]!.data["image"]), "base64");
    expect(await sharp(picture).metadata()).toMatchObject({ format: "jpeg" });
    expect(types(await collect(small))).not.toContain("preview");
  });

  test("an error before the stream is an ordinary answer", async () => {
    await expect(collect({ ...small, model: "nobody" })).rejects.toMatchObject({ status: 404, code: "UNKNOWN_MODEL" });
  });
});

describe("the queue", () => {
  test("headers and position go out at once while another job runs, and positions move", async () => {
    const running = await openStream(long);
    const first = await openStream(small);
    const second = await openStream(small);
    await waitFor(async () => second.text().includes("queued"));
    expect(second.text()).toContain('{"type":"queued","position":2}');
    expect((await easel.client.getJob({ params: { id: first.jobId } })).position).toBe(1);
    await easel.client.cancelJob({ params: { id: running.jobId } });
    await waitFor(async () => second.text().includes("event: complete"));
    const positions = [...second.text().matchAll(/"queued","position":(\d+)/g)].map(([, position]) => Number(position));
    expect(positions).toEqual([2, 1, 0]);
    expect(running.text()).toMatch(/event: error\ndata: \{"code":"CANCELLED"/);
    expect(running.text()).not.toContain("event: complete");
  });

  test("a hundred clients are all served", async () => {
    const clients = Array.from({ length: 100 }, (_, i) => collect({ ...small, steps: 1, seed: i }));
    const all = await Promise.all(clients);
    expect(all.map((events) => types(events).at(-1))).toEqual(Array.from({ length: 100 }, () => "complete"));
    expect(all.map((events) => (events.at(-1)!.data as { seed_used: number }).seed_used)).toEqual(all.map((_, i) => i));
  });

  test("one client's many jobs do not hold up another's one", async () => {
    const blocker = await openStream(long);
    const many = await Promise.all(Array.from({ length: 10 }, () => openStream(small)));
    const other = await openStream(small, "", "127.0.0.2");
    await waitFor(async () => other.text().includes("queued"));
    expect(other.text()).toContain('"position":2');
    await easel.client.cancelJob({ params: { id: blocker.jobId } });
    await waitFor(async () => other.text().includes("event: complete"));
    await idle();
    const end = async ({ jobId }: { jobId: string }) =>
      (await easel.client.getJob({ params: { id: jobId } })).finished_at!;
    const ends = await Promise.all(many.map(end));
    const othersEnd = await end(other);
    expect(ends.filter((time) => time < othersEnd).length).toBeLessThan(3);
  });

  test("status and health answer during a generation", async () => {
    const running = await openStream(long);
    await waitFor(async () => running.text().includes("denoise_step"));
    expect(await easel.client.status()).toMatchObject({ busy: true, models_loaded: ["tiny:local"], gpu_info: null });
    expect(await easel.client.health()).toEqual({ status: "ok" });
    running.close();
    await idle();
    expect((await easel.client.status()).busy).toBe(false);
  });
});

describe("a client that leaves", () => {
  test("cancels its job, running or waiting, and the next one is served", async () => {
    const running = await openStream(long);
    const waiting = await openStream(small);
    await waitFor(async () => running.text().includes("denoise_step"));
    waiting.close();
    running.close();
    await idle();
    for (const { jobId } of [running, waiting]) {
      const job = await easel.client.getJob({ params: { id: jobId } });
      expect(job).toMatchObject({ state: "cancelled", error: { code: "CANCELLED" }, position: null });
    }
    expect(types(await collect(small)).at(-1)).toBe("complete");
  });

  test("of the raw endpoint does the same", async () => {
    const leave = new AbortController();
    const answer = easel.client.generate({ body: long, signal: leave.signal });
    let id = "";
    await waitFor(async () => {
      const job = (await easel.client.listJobs()).jobs.find(({ state }) => state === "running");
      id = job?.id ?? "";
      return job !== undefined && job.step > 0;
    });
    leave.abort();
    await expect(answer).rejects.toThrow();
    await idle();
    expect((await easel.client.getJob({ params: { id } })).state).toBe("cancelled");
  });

  test("with ?detach=true leaves its job behind, whose events can be read later", async () => {
    const stream = await openStream({ ...small, steps: 40 }, "?detach=true");
    await waitFor(async () => stream.text().includes("queued"));
    stream.close();
    await idle();
    const job = await easel.client.getJob({ params: { id: stream.jobId } });
    expect(job).toMatchObject({ state: "complete", step: 40, total: 40, images: [expect.stringContaining(".png")] });
  });
});

describe("an engine that dies", () => {
  test("fails one job with a clear error, and the next is drawn", async () => {
    const stream = await openStream(long);
    await waitFor(async () => stream.text().includes("denoise_step"));
    for (const pid of easel.engines()) process.kill(pid, "SIGKILL");
    await waitFor(async () => stream.text().includes("event: error"));
    expect(stream.text()).toMatch(/"code":"(INFERENCE_ERROR|OUT_OF_MEMORY)","message":".{20,}"/);
    expect(types(await collect(small)).at(-1)).toBe("complete");
    expect((await easel.client.getJob({ params: { id: stream.jobId } })).state).toBe("failed");
  });
});
