import { type ImplementedRoute, implement } from "@kit/http-kernel";
import { errors } from "../contract/errors.js";
import { routes } from "../contract/routes.js";
import { describeJob } from "../generation/job-registry.js";
import type { EaselParts } from "./easel-parts.js";
import { dataFormOf, streamJob } from "./stream-job.js";

export function jobRoutes({ studio }: EaselParts): ImplementedRoute[] {
  const find = (id: string) => {
    const job = studio.jobs.get(id);
    if (!job) throw errors.NOT_FOUND(`There is no job '${id}', or it ended so long ago that it is forgotten.`);
    return job;
  };

  return [
    implement(routes.listJobs, () => ({ jobs: studio.jobs.list().map(describeJob) })),
    implement(routes.getJob, ({ params }) => describeJob(find(params.id))),
    implement(routes.jobEvents, (request) => {
      const job = find(request.params.id);
      const lastSeen = Number(request.rawHeaders["last-event-id"] ?? 0);
      const after = Number.isSafeInteger(lastSeen) && lastSeen > 0 ? lastSeen : 0;
      const form = dataFormOf(request.rawHeaders.accept);
      return request.eventStream((stream) => streamJob(job, stream, { after, form }), {
        headers: { "x-service-job-id": job.id },
        onShutdown: "finish",
      });
    }),
    implement(routes.cancelJob, ({ params }) => {
      const job = find(params.id);
      const state = studio.cancel(job.id);
      if (!state) throw errors.NOT_FOUND(`Job '${job.id}' has already ended: it is ${job.state}.`);
      return { id: job.id, state };
    }),
  ];
}
