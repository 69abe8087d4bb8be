/**
 * An append-only file of JSON lines: `add`, `start` and `end` of jobs, each synced to disk before its promise resolves.
 * Written by hand because it is eighty lines and the queue needs nothing of what an embedded database brings.
 */
import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { type FileHandle, mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { QueuedJob } from "./queue-api.js";

export interface PayloadCodec<Payload> {
  encode(payload: Payload): unknown;
  decode(json: unknown): Payload;
}

export interface JournalOptions<Payload> {
  readonly path: string;
  readonly codec: PayloadCodec<Payload>;
  /** told of jobs that will not run again: unreadable, or the process ended in the middle of each of their attempts */
  readonly onAbandoned?: (id: string, why: string) => void;
  /** the file is written anew when this many of its bytes belong to ended jobs */
  readonly compactAboveBytes?: number;
}

export interface Journal<Payload> {
  readonly unfinished: readonly QueuedJob<Payload>[];
  added(job: QueuedJob<Payload>): Promise<void>;
  started(id: string): Promise<void>;
  ended(id: string): Promise<void>;
  close(): Promise<void>;
}

/** A job that took the process down this often is the likely cause. */
const MAX_ATTEMPTS = 3;
const COMPACT_ABOVE_BYTES = 8 * 2 ** 20;

interface LiveJob {
  readonly line: string;
  attempts: number;
}

type Entry =
  | { op: "add"; id: string; client: string; at: number; payload: unknown }
  | { op: "start"; id: string }
  | { op: "end"; id: string };

export async function openJournal<Payload>(options: JournalOptions<Payload>): Promise<Journal<Payload>> {
  const { path, codec, compactAboveBytes = COMPACT_ABOVE_BYTES } = options;
  await mkdir(dirname(path), { recursive: true });
  const unlock = lock(`${path}.lock`);
  const live = readEntries(await readOrEmpty(path));
  const unfinished = decodeJobs(live, options);
  let file = await writeCompacted(path, live.values());
  let deadBytes = 0;
  let tail: Promise<unknown> = Promise.resolve();

  /** One write at a time: lines never mix, and the order on disk is the order of the calls. */
  function inTurn<T>(action: () => Promise<T>): Promise<T> {
    const done = tail.then(action, action);
    tail = done.catch(() => {});
    return done;
  }

  async function append(line: string): Promise<void> {
    await file.appendFile(line);
    await file.datasync();
  }

  async function end(id: string): Promise<void> {
    const line = `${JSON.stringify({ op: "end", id })}\n`;
    await append(line);
    deadBytes += (live.get(id)?.line.length ?? 0) + line.length;
    live.delete(id);
    if (deadBytes < compactAboveBytes) return;
    const old = file;
    file = await writeCompacted(path, live.values());
    deadBytes = 0;
    await old.close();
  }

  return {
    unfinished,
    added: (job) => {
      const { id, clientKey: client, submittedAt: at } = job;
      const line = `${JSON.stringify({ op: "add", id, client, at, payload: codec.encode(job.payload) } satisfies Entry)}\n`;
      return inTurn(async () => {
        await append(line);
        live.set(id, { line, attempts: 0 });
      });
    },
    started: (id) =>
      inTurn(async () => {
        await append(`${JSON.stringify({ op: "start", id })}\n`);
        const job = live.get(id);
        if (job) job.attempts++;
      }),
    ended: (id) => inTurn(() => end(id)),
    close: () =>
      inTurn(async () => {
        await file.close();
        unlock();
      }),
  };
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** A line cut short by a power failure was never acknowledged, so it is passed over. */
function readEntries(text: string): Map<string, LiveJob> {
  const live = new Map<string, LiveJob>();
  for (const line of text.split("\n")) {
    const entry = parseEntry(line);
    if (entry?.op === "add") live.set(entry.id, { line: `${line}\n`, attempts: 0 });
    else if (entry?.op === "end") live.delete(entry.id);
    else if (entry) {
      const job = live.get(entry.id);
      if (job) job.attempts++;
    }
  }
  return live;
}

function parseEntry(line: string): Entry | undefined {
  try {
    return line === "" ? undefined : (JSON.parse(line) as Entry);
  } catch {
    return undefined;
  }
}

/** Jobs that can still run; the others are taken out of `live`. */
function decodeJobs<Payload>(live: Map<string, LiveJob>, options: JournalOptions<Payload>): QueuedJob<Payload>[] {
  const jobs: QueuedJob<Payload>[] = [];
  for (const [id, { line, attempts }] of live) {
    const entry = parseEntry(line) as Extract<Entry, { op: "add" }>;
    try {
      if (attempts >= MAX_ATTEMPTS) throw new Error(`the process ended during each of its ${attempts} attempts`);
      const payload = options.codec.decode(entry.payload);
      jobs.push({ id, clientKey: entry.client, payload, submittedAt: entry.at });
    } catch (error) {
      live.delete(id);
      options.onAbandoned?.(id, (error as Error).message);
    }
  }
  return jobs;
}

/** A new file with only what is still wanted, put in the old one's place in one step. */
async function writeCompacted(path: string, jobs: Iterable<LiveJob>): Promise<FileHandle> {
  const temporary = `${path}.new`;
  const file = await open(temporary, "w", 0o600);
  for (const { line, attempts } of jobs) {
    const { id } = parseEntry(line) as Entry;
    await file.appendFile(line + `${JSON.stringify({ op: "start", id })}\n`.repeat(attempts));
  }
  await file.sync();
  await rename(temporary, path);
  const folder = await open(dirname(path), "r");
  await folder.sync();
  await folder.close();
  return file;
}

/** Two processes on one journal would both run its jobs. The lock names its owner, so a dead owner's lock does not count. */
function lock(path: string): () => void {
  for (;;) {
    try {
      const file = openSync(path, "wx", 0o600);
      writeSync(file, String(process.pid));
      closeSync(file);
      return () => unlinkSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const owner = Number(readFileSync(path, "utf8"));
    if (isAlive(owner)) throw new Error(`The job journal is in use by process ${owner} (${path}).`);
    unlinkSync(path);
  }
}

function isAlive(pid: number): boolean {
  // In a container the dead owner may have had our own number.
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
