/** Why a file cannot be used as an index; the message says what the file is and what to do about it. */
export class IndexFileError extends Error {
  override readonly name = "IndexFileError";
  readonly reason: "missing" | "unreadable" | "foreign" | "newer" | "older" | "truncated" | "damaged";

  constructor(reason: IndexFileError["reason"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
