/** Admission, queue, worker and memory of jobs, as one thing the routes talk to. */
import { createMemoryQueue, JobCancelledError, type JobQueue, openJournalQueue, type Ticket } from "@kit/job-queue";
import type { GenerateProgress, GenerateQuery, GenerateRequest } from "../contract/generate.js";
import { explainFailure } from "./explain-failure.js";
import type { GenerationResult } from "./generation-result.js";
import { createJobRegistry, type Job, type JobRegistry } from "./job-registry.js";
import { type ResolveContext, resolveRequest } from "./resolve-request.js";
import { type SettledRequest, settledRequestCodec } from "./settled-request.js";
import { createWorker, type WorkerOptions } from "./worker.js";

export interface StudioOptions extends ResolveContext, Omit<WorkerOptions, "onProgress" | "engine" | "models"> {
  readonly engine: WorkerOptions["engine"];
  readonly maxWaiting: number;
  /** file of the durable queue; in memory without it */
  readonly journalPath?: string | undefined;
  readonly onFailure: (id: string, error: unknown) => void;
  readonly onJobEnd: () => void;
  readonly onAbandoned: (id: string, why: string) => void;
}

export interface Studio {
  readonly jobs: JobRegistry;
  /** A place in the line at once, then every check; the job is in the line when this resolves. Throws HttpError. */
  admit(clientKey: string, request: GenerateRequest, query: GenerateQuery, signal?: AbortSignal): Promise<Job>;
  /** Waits for the job's end. Throws HttpError. */
  result(job: Job): Promise<GenerationResult>;
  cancel(id: string): "queued" | "running" | undefined;
  /** Resolves when the jobs that run now have ended, however they end. */
  runningEnded(): Promise<void>;
  counts(): { readonly waiting: number; readonly running: number };
  close(deadlineMs: number): Promise<void>;
}

type Queue = JobQueue<SettledRequest, GenerationResult>;

export async function createStudio(options: StudioOptions): Promise<Studio> {
  const jobs = createJobRegistry();
  const outcomes = new WeakMap<Job, Promise<GenerationResult>>();
  const work = createWorker({ ...options, onProgress: (id, progress) => note(jobs.get(id), progress) });
  const queue: Queue = await openQueue(options, {
    run: (queued, signal) => {
      begin(jobs.get(queued.id));
      return work(queued, signal);
    },
    onPosition: (id, position) => move(jobs.get(id), position),
  });

  function follow(job: Job, { finished }: Ticket<SettledRequest, GenerationResult>): void {
    const outcome = finished.then(
      (result) => succeed(job, result),
      (error: unknown) => {
        fail(job, error);
        options.onFailure(job.id, error);
        throw explainFailure(error);
      },
    );
    outcome
      .catch(() => {})
      .finally(() => {
        jobs.trim();
        options.onJobEnd();
      });
    outcomes.set(job, outcome);
  }

  for (const ticket of queue.start()) {
    const { id, payload, submittedAt } = ticket.job;
    // Nobody is connected to a job of an earlier process.
    follow(jobs.add(id, { ...payload, detached: true }, submittedAt), ticket);
  }

  return {
    jobs,
    async admit(clientKey, request, query, signal) {
      const place = reserve(queue, clientKey);
      try {
        const settled = await resolveRequest(request, query, options);
        if (signal?.aborted) throw new JobCancelledError();
        const job = jobs.add(place.id, settled, Date.now());
        follow(job, await place.submit(settled));
        return job;
      } catch (error) {
        place.release();
        jobs.drop(place.id);
        throw explainFailure(error);
      }
    },
    result: (job) => outcomes.get(job)!,
    cancel(id) {
      const was = queue.cancel(id);
      return was === "waiting" ? "queued" : was;
    },
    async runningEnded() {
      const running = jobs.list().filter((job) => job.state === "running");
      await Promise.allSettled(running.map((job) => outcomes.get(job)));
    },
    counts: () => queue.counts(),
    close: (deadlineMs) => queue.close({ deadlineMs }),
  };
}

function openQueue(
  { maxWaiting, journalPath, onAbandoned }: StudioOptions,
  hooks: Pick<Parameters<typeof createMemoryQueue<SettledRequest, GenerationResult>>[0], "run" | "onPosition">,
): Queue | Promise<Queue> {
  if (journalPath === undefined) return createMemoryQueue({ ...hooks, maxWaiting });
  return openJournalQueue({ ...hooks, maxWaiting, path: journalPath, codec: settledRequestCodec, onAbandoned });
}

function reserve(queue: Queue, clientKey: string) {
  try {
    return queue.reserve(clientKey);
  } catch (error) {
    throw explainFailure(error);
  }
}

function move(job: Job | undefined, position: number): void {
  if (!job) return;
  job.position = position;
  job.log.add({ event: "progress", data: { type: "queued", position } });
}

function begin(job: Job | undefined): void {
  if (!job) return;
  job.state = "running";
  job.startedAt = Date.now();
}

function note(job: Job | undefined, progress: GenerateProgress): void {
  if (!job) return;
  if (progress.type === "denoise_step") job.step = progress.step;
  job.log.add({ event: "progress", data: progress });
}

function succeed(job: Job, result: GenerationResult): GenerationResult {
  job.state = "complete";
  job.finishedAt = Date.now();
  job.result = result;
  job.log.add({ event: "complete", data: result });
  return result;
}

function fail(job: Job, error: unknown): void {
  const { code, message } = explainFailure(error);
  job.state = code === "CANCELLED" ? "cancelled" : "failed";
  job.finishedAt = Date.now();
  job.error = { code, message };
  job.log.add({ event: "error", data: job.error });
}
