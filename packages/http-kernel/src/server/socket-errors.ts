// Answers for requests that never became requests: what the HTTP parser refuses, at the level of the socket.
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import type { ErrorTable, HttpError } from "../contract/define-errors.js";
import { errorBody } from "./answer-errors.js";
import type { AnsweringSocket } from "./connection-tracker.js";
import { requestIdFor } from "./request-id.js";

interface ParserError extends Error {
  readonly code?: string;
}

/** Bytes still arriving after the answer are read and thrown away this long, so that a reset does not outrun the answer. */
const LINGER_MS = 1000;

export function createClientErrorHandler(
  errors: ErrorTable,
  log: Logger,
): (error: ParserError, socket: Duplex) => void {
  // The parser complains again about every chunk that still arrives; the first complaint is answered.
  const refused = new WeakSet<Duplex>();
  return (error, socket) => {
    if (refused.has(socket)) return;
    // A second status line inside an answer under way would be garbage for the client.
    const busy = (socket as Duplex & AnsweringSocket)._httpMessage?.headersSent === true;
    if (error.code === "ECONNRESET" || !socket.writable || busy) {
      socket.destroy();
      return;
    }
    const answered = toSocketError(error, errors);
    refused.add(socket);
    const id = requestIdFor(undefined);
    log.info({ requestId: id, status: answered.status, reason: error.code }, "refused before it was a request");
    refuse(socket, answered, id);
  };
}

function toSocketError(error: ParserError, errors: ErrorTable): HttpError {
  if (error.code === "HPE_HEADER_OVERFLOW") return errors.HEADERS_TOO_LARGE();
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return errors.REQUEST_TIMEOUT();
  if (error.code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return errors.PAYLOAD_TOO_LARGE();
  if (error.code === "HPE_INVALID_URL")
    return errors.BAD_REQUEST("The address holds bytes that must be percent-encoded");
  return errors.BAD_REQUEST("This is not HTTP");
}

/** A whole HTTP answer by hand, then the end of the connection. */
export function refuse(socket: Duplex, error: HttpError, requestId: string): void {
  const body = errorBody(error);
  const headers = {
    ...error.headers,
    "Content-Type": "application/json",
    "Content-Length": String(body.length),
    "X-Request-ID": requestId,
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? "Error"}\r\n${lines.join("")}\r\n${body.toString()}`,
  );
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** CONNECT never reaches the routes. */
export function createConnectHandler(errors: ErrorTable): (request: IncomingMessage, socket: Duplex) => void {
  return (request, socket) =>
    refuse(
      socket,
      errors.METHOD_NOT_ALLOWED("CONNECT is not answered here"),
      requestIdFor(request.headers["x-request-id"]),
    );
}
