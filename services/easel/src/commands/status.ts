import { defineCommand, formatDuration } from "@kit/command-line";
import { withClient } from "../client/open-client.js";
import type { JobRow } from "../contract/jobs.js";
import { connectionSettings } from "./connection-settings.js";

export const statusCommand = defineCommand({
  name: "status",
  summary: "show version, loaded models and load of the server",
  settings: connectionSettings,
  run: async (context) =>
    withClient(context, async (client) => {
      const status = await client.status(context.signal);
      const { gpu_info: gpu } = status;
      context.output.fields(
        [
          ["server", client.inPlace ? "none running (started in place)" : client.baseUrl],
          ["version", `${status.version} (${status.git_sha}, ${status.build_date})`],
          ["busy", status.busy ? "yes" : "no"],
          ["loaded", status.models_loaded.join(", ") || "nothing"],
          ["gpu", gpu === null ? "none" : `${gpu.name}, ${gpu.vram_used_mb} of ${gpu.vram_total_mb} MB used`],
          ["up", formatDuration(status.uptime_secs * 1000)],
        ],
        status,
      );
    }),
});

export const psCommand = defineCommand({
  name: "ps",
  summary: "show running, waiting and recent jobs",
  settings: connectionSettings,
  run: async (context) =>
    withClient(context, async (client) => {
      const jobs = await client.listJobs(context.signal);
      if (jobs.length === 0 && context.output.mode === "table") return context.output.line("no jobs");
      context.output.table<JobRow>(
        [
          { title: "JOB", value: (job) => job.id },
          {
            title: "STATE",
            value: jobState,
            style: (paint, job) =>
              job.state === "failed" ? paint.red : job.state === "running" ? paint.green : (cell) => cell,
          },
          { title: "MODEL", value: (job) => job.model },
          { title: "SIZE", value: (job) => `${job.width}x${job.height}` },
          { title: "SEED", value: (job) => job.seed, align: "right" },
          { title: "PROMPT", value: (job) => job.prompt, flexible: true },
        ],
        jobs,
      );
    }),
});

function jobState(job: JobRow): string {
  if (job.state === "queued") return `waiting (${job.position} ahead)`;
  if (job.state === "running" && job.total > 0) return `step ${job.step}/${job.total}`;
  return job.state;
}
