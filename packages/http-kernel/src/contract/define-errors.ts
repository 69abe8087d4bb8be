// The error table of a service: code -> status. Handlers throw `errors.CODE("...")`; one function of the server answers.

export interface ErrorRow {
  readonly status: number;
  /** Used when the code is thrown without a message, and as description in the document. */
  readonly message?: string;
}

export interface HttpErrorOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error whose code and message the client may see. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    options: HttpErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.headers = options.headers ?? {};
  }
}

/** Codes every service answers with because the kernel itself raises them. A service's table may override a row. */
const KERNEL_ERRORS = {
  BAD_REQUEST: { status: 400, message: "The request is not valid." },
  UNAUTHORIZED: { status: 401, message: "A valid API key is needed." },
  NOT_FOUND: { status: 404, message: "There is nothing at this path." },
  METHOD_NOT_ALLOWED: { status: 405, message: "This path does not answer this method." },
  REQUEST_TIMEOUT: { status: 408, message: "The request did not arrive in time." },
  PAYLOAD_TOO_LARGE: { status: 413, message: "The body is too large." },
  URI_TOO_LONG: { status: 414, message: "The address is too long." },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: "The body must be application/json." },
  EXPECTATION_FAILED: { status: 417, message: "The Expect header asks for something this server does not do." },
  RATE_LIMITED: { status: 429, message: "Too many requests." },
  HEADERS_TOO_LARGE: { status: 431, message: "The request headers are too large." },
  INTERNAL_ERROR: { status: 500, message: "Internal error." },
  SERVICE_UNAVAILABLE: { status: 503, message: "The server is shutting down." },
} as const satisfies Record<string, ErrorRow>;

export type KernelCode = keyof typeof KERNEL_ERRORS;

/** Which code a failed check has: services differ (400 BAD_REQUEST here, 422 VALIDATION_ERROR there). */
export interface ErrorRoles<Code extends string> {
  /** A parameter or a field breaks its rule. Default BAD_REQUEST. */
  readonly invalid?: Code;
  /** The body is not JSON at all. Default BAD_REQUEST. */
  readonly malformedBody?: Code;
}

export type ErrorMaker = (message?: string, options?: HttpErrorOptions) => HttpError;
export type ErrorTable<Code extends string = never> = { readonly [C in Code | KernelCode]: ErrorMaker } & {
  /** Every row, kernel's included. */
  readonly $rows: Readonly<Record<string, ErrorRow>>;
  readonly $invalid: ErrorMaker;
  readonly $malformedBody: ErrorMaker;
};

export function defineErrors<const Rows extends Readonly<Record<string, ErrorRow>>>(
  rows: Rows,
  roles: ErrorRoles<(keyof Rows & string) | KernelCode> = {},
): ErrorTable<keyof Rows & string> {
  const all: Record<string, ErrorRow> = { ...KERNEL_ERRORS, ...rows };
  const makers: Record<string, ErrorMaker> = {};
  for (const [code, row] of Object.entries(all)) {
    makers[code] = (message, options) => new HttpError(code, row.status, message ?? row.message ?? code, options);
  }
  return {
    ...(makers as Record<keyof Rows | KernelCode, ErrorMaker>),
    $rows: all,
    $invalid: makers[roles.invalid ?? "BAD_REQUEST"] as ErrorMaker,
    $malformedBody: makers[roles.malformedBody ?? "BAD_REQUEST"] as ErrorMaker,
  };
}
