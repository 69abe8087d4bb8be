import { defineErrors } from "@kit/http-kernel/contract";

/** Every code this service answers with; the kernel's own (BAD_REQUEST, NOT_FOUND, RATE_LIMITED ...) come with the table. */
export const errors = defineErrors({
  SERVICE_UNAVAILABLE: { status: 503, message: "There is no package index to answer from." },
  OVERLOADED: { status: 503, message: "Too many requests are waiting." },
  TIMEOUT: { status: 504, message: "The request waited too long for its turn." },
});
