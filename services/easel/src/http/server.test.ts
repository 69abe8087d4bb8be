import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  createTestFolders,
  type StartOptions,
  startEasel,
  type TestEasel,
  type TestFolders,
} from "../testing/start-easel.js";

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action();
});
const start = async (options: StartOptions = {}): Promise<TestEasel> => {
  const easel = await startEasel(options);
  cleanUp.push(() => easel.stop());
  return easel;
};
const createFolders = async (): Promise<TestFolders> => {
  const folders = await createTestFolders();
  cleanUp.push(() => folders.remove());
  return folders;
};

/** Several starts of the whole program; a busy machine needs its time. */
const LONG_TEST_MS = 240_000;
vi.setConfig({ testTimeout: LONG_TEST_MS, hookTimeout: LONG_TEST_MS });

const small = { prompt: "a tree", width: 64, height: 64, steps: 2 };
const long = { ...small, width: 512, height: 512, steps: 150 };

async function detach(easel: TestEasel, body: typeof small & { seed?: number }): Promise<string> {
  const response = await easel.client.generateStream.response({ body, query: { detach: true } });
  await response.body?.cancel();
  return response.headers.get("x-service-job-id")!;
}
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await wait(10);
}
const isRunning = async (easel: TestEasel, id: string) => (await easel.client.getJob({ params: { id } })).step > 0;

describe("being asked to stop", () => {
  test("lets a short job finish and reach its client", async () => {
    const easel = await start();
    const drawing = easel.client.generate({ body: { ...small, steps: 60 } });
    await until(async () => (await easel.client.status()).models_loaded.length > 0);
    const code = easel.stop("SIGTERM");
    expect((await drawing).contentType).toBe("image/png");
    expect(await code).toBe(0);
  });

  test("ends a long job at the deadline with an error event, and exits 0", async () => {
    const easel = await start({ flags: ["--shutdown-time", "300ms"] });
    const response = await easel.client.generateStream.response({ body: long });
    const id = response.headers.get("x-service-job-id")!;
    await until(() => isRunning(easel, id));
    const code = easel.stop("SIGTERM");
    expect(await response.text()).toMatch(
      /event: error\ndata: \{"code":"SERVICE_UNAVAILABLE","message":"The server is stopping/,
    );
    expect(await code).toBe(0);
  });
});

describe("--durable-queue", () => {
  test("after a crash unfinished jobs are there again and finished ones are not repeated", async () => {
    const folders = await createFolders();
    const first = await start({ folders, flags: ["--durable-queue"] });
    await first.client.generate({ body: { ...small, seed: 1 } });
    const running = await detach(first, { ...long, seed: 2 });
    const waiting = await detach(first, { ...small, seed: 3 });
    const cancelled = await detach(first, { ...small, seed: 4 });
    await first.client.cancelJob({ params: { id: cancelled } });
    await until(() => isRunning(first, running));
    await until(async () => (await first.client.getJob({ params: { id: cancelled } })).state === "cancelled");
    await first.stop("SIGKILL");

    const second = await start({ folders, flags: ["--durable-queue"] });
    const { jobs } = await second.client.listJobs();
    expect(jobs.map((job) => [job.id, job.seed]).sort()).toEqual(
      [
        [running, 2],
        [waiting, 3],
      ].sort(),
    );
    await second.client.cancelJob({ params: { id: running } });
    await until(async () => (await second.client.getJob({ params: { id: waiting } })).state === "complete");
    await second.stop();
    const seeds = (await readdir(folders.output)).map((name) => /-(\d+)-0\.png$/.exec(name)![1]);
    expect(seeds.sort()).toEqual(["1", "3"]);

    const third = await start({ folders, flags: ["--durable-queue"] });
    expect((await third.client.listJobs()).jobs).toEqual([]);
  });

  test("a clean stop keeps what waits; input images survive", async () => {
    const folders = await createFolders();
    const flags = ["--durable-queue", "--shutdown-time", "100ms"];
    const first = await start({ folders, flags });
    await first.client.generate({ body: { ...small, seed: 8 } });
    const [name] = await readdir(folders.output);
    const image = (await readFile(join(folders.output, name!))).toString("base64");
    const expected = await first.client.generate({ body: { ...small, seed: 9, image } });
    const running = await detach(first, long);
    const waiting = await detach(first, { ...small, seed: 9, image } as typeof small);
    await until(() => isRunning(first, running));
    expect(await first.stop()).toBe(0);

    const second = await start({ folders, flags });
    await second.client.cancelJob({ params: { id: running } });
    await until(async () => (await second.client.getJob({ params: { id: waiting } })).state === "complete");
    const { images } = await second.client.getJob({ params: { id: waiting } });
    expect((await readFile(join(folders.output, images[0]!))).equals(Buffer.from(expected.bytes))).toBe(true);
  });
});

test("models are unloaded after idle time", async () => {
  const easel = await start({ flags: ["--idle-unload", "2s"] });
  await easel.client.generate({ body: small });
  expect((await easel.client.status()).models_loaded).toEqual(["tiny:local"]);
  await until(async () => (await easel.client.status()).models_loaded.length === 0);
  expect((await easel.client.generate({ body: small })).contentType).toBe("image/png");
});

test("a wide bind without a key prints a warning; keys come from a file as well", async () => {
  const open = await start({ flags: ["--host", "0.0.0.0"] });
  expect(open.program.output()).toContain("warning: everyone who reaches 0.0.0.0 can use this server");
  const folders = await createFolders();
  await writeFile(join(folders.root, "keys"), "alpha\nbeta\n");
  const closed = await start({
    folders,
    flags: ["--host", "0.0.0.0"],
    env: { SERVICE_API_KEY: `@${join(folders.root, "keys")}` },
  });
  expect(closed.program.output()).not.toContain("warning");
  const status = (key: string) =>
    fetch(`${closed.url}/api/status`, { headers: { "x-api-key": key } }).then((r) => r.status);
  expect([await status("alpha"), await status("beta"), await status("gamma")]).toEqual([200, 200, 401]);
});

test("settings that make no sense stop the start with exit code 2 and the reason", async () => {
  for (const [flags, env, reason] of [
    [["--max-queue", "-1"], {}, /--max-queue/],
    [["--backend", "abacus"], {}, /--backend.*cpu/],
    [[], { SERVICE_API_KEY: "@/nowhere/keys" }, /file of keys/],
    [[], { SERVICE_API_KEY: " , " }, /holds no key/],
  ] as const) {
    const folders = await createFolders();
    await expect(startEasel({ folders, flags, env })).rejects.toMatchObject({
      exitCode: 2,
      output: expect.stringMatching(reason),
    });
  }
});
