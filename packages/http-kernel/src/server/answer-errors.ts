// The one place that turns anything thrown, by us, by a handler or by the framework, into `{code, message}`.
import type { FastifyReply } from "fastify";
import type { Logger } from "pino";
import { type ErrorTable, HttpError } from "../contract/define-errors.js";
import { checkHeaders } from "./check-headers.js";
import { exchangeOf } from "./exchange.js";

/** What the framework and Node put on their errors. */
interface ForeignError {
  readonly code?: string;
  readonly statusCode?: number;
}

const FRAMEWORK_CODES: Readonly<Record<string, (errors: ErrorTable) => HttpError>> = {
  FST_ERR_BAD_URL: (errors) => errors.BAD_REQUEST("The path is not valid percent-encoded UTF-8"),
  FST_ERR_MAX_PARAM_LENGTH: (errors) => errors.URI_TOO_LONG("A segment of the path is too long"),
  FST_ERR_CTP_BODY_TOO_LARGE: (errors) => errors.PAYLOAD_TOO_LARGE(),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (errors) => errors.UNSUPPORTED_MEDIA_TYPE(),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: (errors) => errors.BAD_REQUEST("The body is not as long as Content-Length says"),
  FST_ERR_CTP_EMPTY_JSON_BODY: (errors) => errors.$malformedBody("The body is empty"),
  FST_ERR_NOT_FOUND: (errors) => errors.NOT_FOUND(),
  ERR_HTTP_INVALID_STATUS_CODE: (errors) => errors.INTERNAL_ERROR(),
};

/** Client errors of libraries we did not map by code keep their class, not their words. */
const BY_STATUS: Readonly<Record<number, (errors: ErrorTable) => HttpError>> = {
  400: (errors) => errors.BAD_REQUEST(),
  403: (errors) => errors.NOT_FOUND(),
  404: (errors) => errors.NOT_FOUND(),
  412: (errors) => new HttpError("PRECONDITION_FAILED", 412, "The file has changed", { cause: errors }),
  413: (errors) => errors.PAYLOAD_TOO_LARGE(),
  414: (errors) => errors.URI_TOO_LONG(),
  415: (errors) => errors.UNSUPPORTED_MEDIA_TYPE(),
  416: () => new HttpError("RANGE_NOT_SATISFIABLE", 416, "The range lies outside the file"),
};

export function toHttpError(error: unknown, errors: ErrorTable): HttpError {
  if (error instanceof HttpError) return error;
  const foreign: ForeignError = typeof error === "object" && error !== null ? error : {};
  const known = FRAMEWORK_CODES[foreign.code ?? ""] ?? BY_STATUS[foreign.statusCode ?? 0];
  return known === undefined ? errors.INTERNAL_ERROR(undefined, { cause: error }) : known(errors);
}

/** Says the inside of a 5xx to the log, under the request's id, and nothing of it to the client. */
export function reportError(log: Logger, requestId: string, answered: HttpError, thrown: unknown): void {
  if (answered.status < 500) return;
  const err =
    thrown instanceof Error
      ? thrown.cause instanceof Error && thrown instanceof HttpError
        ? thrown.cause
        : thrown
      : new Error(String(thrown));
  log[answered.code === "INTERNAL_ERROR" ? "error" : "warn"]({ requestId, code: answered.code, err }, "request failed");
}

export function errorBody(error: HttpError): Buffer {
  return Buffer.from(JSON.stringify({ code: error.code, message: error.message }));
}

function sendable(error: HttpError, errors: ErrorTable): HttpError {
  try {
    checkHeaders(error.headers);
    return error;
  } catch (cause) {
    return errors.INTERNAL_ERROR(undefined, { cause });
  }
}

export function answerError(reply: FastifyReply, thrown: unknown, errors: ErrorTable, log: Logger): void {
  const error = sendable(toHttpError(thrown, errors), errors);
  reportError(log, exchangeOf(reply.request.raw).id, error, thrown);
  for (const name of ["cache-control", "etag", "content-encoding", "content-length", "last-modified"])
    reply.removeHeader(name);
  reply.code(error.status).headers(error.headers).header("content-type", "application/json").send(errorBody(error));
}
