/** Every error easel answers with, beside those of the kernel: code, status, and what it says when nothing better is known. */
import { defineErrors } from "@kit/http-kernel/contract";

export const errors = defineErrors(
  {
    MALFORMED_JSON: { status: 400, message: "The body is not valid JSON." },
    UNAUTHORIZED: { status: 401, message: "A valid key is needed in the header X-Api-Key." },
    FORBIDDEN: { status: 403, message: "This is not allowed." },
    UNKNOWN_MODEL: { status: 404, message: "There is no such model." },
    MODEL_NOT_DOWNLOADED: { status: 409, message: "The model is known but not downloaded." },
    PAYLOAD_TOO_LARGE: { status: 413, message: "The body is larger than 64 MiB." },
    VALIDATION_ERROR: { status: 422, message: "A field breaks its rule." },
    CANCELLED: { status: 499, message: "The job was cancelled." },
    INFERENCE_ERROR: { status: 500, message: "The engine failed to draw." },
    RANGE_NOT_SATISFIABLE: { status: 416, message: "The range lies outside the picture." },
    STORAGE_ERROR: { status: 500, message: "The server could not use its disk." },
    HUB_ERROR: { status: 502, message: "The model hub did not answer as it should." },
    QUEUE_FULL: { status: 503, message: "The queue is full." },
    OUT_OF_MEMORY: { status: 503, message: "There is not enough memory for this." },
    EXPANSION_FAILED: { status: 503, message: "The language model did not expand the prompt." },
    INSUFFICIENT_STORAGE: { status: 507, message: "There is not enough room on the disk." },
  },
  { invalid: "VALIDATION_ERROR", malformedBody: "MALFORMED_JSON" },
);
