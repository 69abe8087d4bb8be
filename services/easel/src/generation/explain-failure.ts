/** The one place that turns whatever ended a job into an error the client may see. */
import { HttpError } from "@kit/http-kernel/contract";
import { JobCancelledError, QueueClosedError, QueueFullError } from "@kit/job-queue";
import { errors } from "../contract/errors.js";
import { EngineError } from "../engine/engine-api.js";
import { ExpandError } from "../expand/expand-error.js";

export function explainFailure(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof EngineError || error instanceof ExpandError)
    return errors[error.code](error.message, { cause: error });
  if (error instanceof JobCancelledError) return errors.CANCELLED(error.message);
  if (error instanceof QueueClosedError) return errors.SERVICE_UNAVAILABLE(error.message);
  if (error instanceof QueueFullError) {
    return errors.QUEUE_FULL(error.message, { headers: { "retry-after": String(error.retryAfterSeconds) } });
  }
  return errors.INTERNAL_ERROR(undefined, { cause: error });
}
