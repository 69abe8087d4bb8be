import { type Static, Type } from "typebox";
import { StreamError } from "./generate.js";

export const JobState = Type.Enum(["queued", "running", "complete", "failed", "cancelled"]);
export type JobState = Static<typeof JobState>;

const time = Type.Union([Type.String({ description: "ISO 8601, UTC" }), Type.Null()]);

export const JobRow = Type.Object({
  id: Type.String(),
  state: JobState,
  position: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: "Jobs ahead of this one; 0 while it runs; null when it has ended.",
  }),
  model: Type.String(),
  prompt: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  steps: Type.Integer(),
  seed: Type.Integer(),
  batch: Type.Integer(),
  step: Type.Integer({ description: "Denoising steps done of the current image." }),
  total: Type.Integer({ description: "Denoising steps of one image." }),
  created_at: Type.String(),
  started_at: time,
  finished_at: time,
  images: Type.Array(Type.String(), { description: "Names in the gallery." }),
  error: Type.Union([StreamError, Type.Null()]),
});
export type JobRow = Static<typeof JobRow>;

export const JobList = Type.Object({ jobs: Type.Array(JobRow) });
export const JobParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100 }) });
export const CancelResponse = Type.Object({
  id: Type.String(),
  state: Type.Enum(["queued", "running"], { description: "What the job was doing when it was cancelled." }),
});
