import { Box, Text } from "ink";
import { useState } from "react";
import type { EaselClient } from "../client/easel-client.js";
import type { JobRow } from "../contract/jobs.js";
import { clampIndex, listWindow } from "./list-window.js";
import { useKeys } from "./use-keys.js";
import { usePolled } from "./use-polled.js";
import type { Screen } from "./use-screen.js";

const QUEUE_EVERY_MS = 1_000;

export function QueueView({ client, screen }: { client: EaselClient; screen: Screen }) {
  const jobs = usePolled(() => client.listJobs(), QUEUE_EVERY_MS);
  const rows = jobs.value ?? [];
  const [selected, setSelected] = useState(0);
  const at = clampIndex(selected, rows.length);
  const cancel = (): void => {
    const job = rows[at];
    if (job && (job.state === "queued" || job.state === "running"))
      client.cancelJob(job.id).then(jobs.refresh, jobs.refresh);
  };
  useKeys({
    scope: "queue",
    actions: {
      up: () => setSelected((now) => clampIndex(now - 1, rows.length)),
      down: () => setSelected((now) => clampIndex(now + 1, rows.length)),
      cancel,
    },
  });
  const { start, end } = listWindow(rows.length, at, Math.max(1, screen.rows - 6));
  if (rows.length === 0)
    return (
      <Text dimColor>
        {jobs.error ?? "Nothing is waiting. Pictures being drawn appear here, whoever asked for them."}
      </Text>
    );
  return (
    <Box flexDirection="column">
      {rows.slice(start, end).map((job, i) => (
        <Text key={job.id} inverse={start + i === at} wrap="truncate">
          <Text {...colorOf(job)}>{stateOf(job).padEnd(18)}</Text> {job.model.padEnd(18)}{" "}
          {`${job.width}x${job.height}`.padEnd(10)} {job.prompt}
          {job.error ? ` (${job.error.message})` : ""}
        </Text>
      ))}
    </Box>
  );
}

function stateOf(job: JobRow): string {
  if (job.state === "queued") return `waiting, ${job.position} ahead`;
  if (job.state === "running" && job.total > 0) return `step ${job.step} of ${job.total}`;
  return job.state;
}

const colorOf = (job: JobRow): { color?: string } =>
  job.state === "running" ? { color: "green" } : job.state === "failed" ? { color: "red" } : {};
