/** What a finished command tells the shell. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  unreachable: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error whose message is meant for the person at the terminal; anything else that is thrown counts as a bug and shows its stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;
  /** what to do about it, printed on a line of its own */
  readonly remedy: string | undefined;

  constructor(kind: keyof typeof exitCodes, message: string, options: { remedy?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = exitCodes[kind];
    this.remedy = options.remedy;
  }
}

export const usageError = (message: string, remedy?: string): CommandError =>
  new CommandError("usage", message, remedy === undefined ? {} : { remedy });
