/** Every job the server remembers: those in line, the running one, and the latest that ended, with their events. */
import type { StreamError } from "../contract/generate.js";
import type { JobRow, JobState } from "../contract/jobs.js";
import { createEventLog, type EventLog } from "./event-log.js";
import type { GenerationResult } from "./generation-result.js";
import { type SettledRequest, stepsToRun } from "./settled-request.js";

export interface Job {
  readonly id: string;
  readonly request: SettledRequest;
  readonly createdAt: number;
  readonly log: EventLog;
  state: JobState;
  position: number | null;
  startedAt: number | null;
  finishedAt: number | null;
  step: number;
  error: StreamError | null;
  result: GenerationResult | null;
}

export interface JobRegistry {
  add(id: string, request: SettledRequest, createdAt: number): Job;
  get(id: string): Job | undefined;
  /** The job could not enter the queue after all. */
  drop(id: string): void;
  /** To be called when a job has ended: the oldest ended ones make room. */
  trim(): void;
  /** Running first, then the line, then the ended, newest first. */
  list(): Job[];
}

/** Ended jobs that can still be asked about. */
const KEPT_JOBS = 200;
/** Their pictures stay in memory so that a reader that lost its connection can come back for them. */
const KEPT_BYTES = 64 * 2 ** 20;

export function createJobRegistry(): JobRegistry {
  const jobs = new Map<string, Job>();
  const ended = () =>
    [...jobs.values()].filter((job) => job.finishedAt !== null).sort((a, b) => b.finishedAt! - a.finishedAt!);

  return {
    add(id, request, createdAt) {
      const job: Job = {
        id,
        request,
        createdAt,
        log: createEventLog(),
        state: "queued",
        position: null,
        startedAt: null,
        finishedAt: null,
        step: 0,
        error: null,
        result: null,
      };
      jobs.set(id, job);
      return job;
    },
    get: (id) => jobs.get(id),
    drop: (id) => void jobs.delete(id),
    trim() {
      let bytes = 0;
      ended().forEach((job, index) => {
        bytes += sizeOf(job.result);
        // The newest stays whatever its size.
        if (index > 0 && (index >= KEPT_JOBS || bytes > KEPT_BYTES)) jobs.delete(job.id);
      });
    },
    list() {
      const alive = [...jobs.values()].filter((job) => job.finishedAt === null);
      alive.sort(
        (a, b) => (a.position ?? Number.MAX_VALUE) - (b.position ?? Number.MAX_VALUE) || a.createdAt - b.createdAt,
      );
      return [...alive, ...ended()];
    },
  };
}

const sizeOf = (result: GenerationResult | null) =>
  result?.images.reduce((sum, image) => sum + image.bytes.length, 0) ?? 0;

export function describeJob(job: Job): JobRow {
  const { request } = job;
  const time = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds).toISOString());
  return {
    id: job.id,
    state: job.state,
    position: job.finishedAt === null ? (job.position ?? 0) : null,
    model: request.model,
    prompt: request.prompt,
    width: request.width,
    height: request.height,
    steps: request.steps,
    seed: request.seed,
    batch: request.batch,
    step: job.step,
    total: stepsToRun(request),
    created_at: new Date(job.createdAt).toISOString(),
    started_at: time(job.startedAt),
    finished_at: time(job.finishedAt),
    images: job.result?.images.flatMap((image) => (image.name === undefined ? [] : [image.name])) ?? [],
    error: job.error,
  };
}
