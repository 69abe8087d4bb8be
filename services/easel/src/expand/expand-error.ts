/** `VALIDATION_ERROR` is the request's fault (422), `CANCELLED` the caller's wish (499), the others mean that no expansion could be had (503). */
export type ExpandErrorCode = "VALIDATION_ERROR" | "CANCELLED" | "EXPANSION_FAILED" | "OUT_OF_MEMORY";

/** The only error an expander rejects with. The message is fit for the user: what failed and what to do about it. */
export class ExpandError extends Error {
  override readonly name = "ExpandError";
  constructor(
    readonly code: ExpandErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
