import type { JobRow } from "../contract/jobs.js";
import { cancelJob, listJobs } from "./api.js";
import { usePolling } from "./use-polling.js";
import { go } from "./use-route.js";

const QUEUE_EVERY_MS = 1_000;

export function QueueView() {
  const jobs = usePolling(listJobs, QUEUE_EVERY_MS);
  const rows = jobs.value ?? [];
  const live = rows.filter((job) => job.state === "queued" || job.state === "running");
  const ended = rows.filter((job) => job.state !== "queued" && job.state !== "running");
  return (
    <section class="page" aria-label="Queue">
      <h1>Queue</h1>
      {live.length === 0 ? (
        <p class="soft">Nothing is waiting. Pictures being drawn appear here, whoever asked for them.</p>
      ) : null}
      <ul class="rows">
        {live.map((job) => (
          <JobItem key={job.id} job={job} onCancelled={jobs.refresh} />
        ))}
      </ul>
      {ended.length > 0 ? <h2>Ended</h2> : null}
      <ul class="rows">
        {ended.map((job) => (
          <JobItem key={job.id} job={job} onCancelled={jobs.refresh} />
        ))}
      </ul>
    </section>
  );
}

function JobItem({ job, onCancelled }: { job: JobRow; onCancelled: () => void }) {
  const live = job.state === "queued" || job.state === "running";
  const first = job.images[0];
  return (
    <li>
      <div class="grow">
        <strong class="one-line">{job.prompt}</strong>
        <span class="soft">
          {job.model} · {job.width}×{job.height} · seed {job.seed}
          {job.batch > 1 ? ` · ${job.batch} pictures` : ""}
        </span>
        {job.error ? <span class="problem">{job.error.message}</span> : null}
        {job.state === "running" && job.total > 0 ? <progress value={job.step} max={job.total} /> : null}
      </div>
      <span class={`tag ${job.state}`}>
        {job.state === "queued"
          ? `waiting, ${job.position ?? 0} ahead`
          : job.state === "running" && job.total > 0
            ? `step ${job.step} of ${job.total}`
            : job.state}
      </span>
      {first ? (
        <button type="button" onClick={() => go("gallery", first)}>
          Show
        </button>
      ) : null}
      {live ? (
        <button type="button" onClick={() => cancelJob(job.id).then(onCancelled, onCancelled)}>
          Cancel
        </button>
      ) : null}
    </li>
  );
}
