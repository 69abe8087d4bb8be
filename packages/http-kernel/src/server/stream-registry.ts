// All open event streams of a server: opens them, ends them with clean errors, and ends them all on shutdown.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { ErrorTable } from "../contract/define-errors.js";
import { reportError, toHttpError } from "./answer-errors.js";
import type { EventStreamAnswer } from "./answers.js";
import { checkHeaders } from "./check-headers.js";
import { EventStream, type EventStreamLimits, StreamClosed } from "./event-stream.js";
import { exchangeOf } from "./exchange.js";
import type { RequestMetrics } from "./metrics.js";

interface OpenStream {
  readonly stream: EventStream;
  readonly onShutdown: "end" | "finish";
}

export class ShuttingDown extends Error {
  override readonly name = "ShuttingDown";
}

export class StreamRegistry {
  readonly #open = new Set<OpenStream>();
  readonly #limits: EventStreamLimits;
  readonly #metrics: RequestMetrics;
  readonly #errors: ErrorTable;
  readonly #log: Logger;

  constructor(limits: EventStreamLimits, metrics: RequestMetrics, errors: ErrorTable, log: Logger) {
    this.#limits = limits;
    this.#metrics = metrics;
    this.#errors = errors;
    this.#log = log;
  }

  /** Sends the headers, runs the producer, and ends the answer whatever happens. */
  async run(request: FastifyRequest, reply: FastifyReply, answer: EventStreamAnswer): Promise<void> {
    checkHeaders(answer.options.headers);
    reply.hijack();
    const response = reply.raw;
    const headers = {
      ...(reply.getHeaders() as Record<string, string>),
      ...answer.options.headers,
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      // Asks nginx and its like not to collect the stream.
      "x-accel-buffering": "no",
    };
    response.writeHead(200, headers);
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    response.flushHeaders();
    const stream = new EventStream(response, this.#limits);
    const entry: OpenStream = { stream, onShutdown: answer.options.onShutdown ?? "end" };
    this.#open.add(entry);
    this.#metrics.streamOpened();
    try {
      await answer.produce(stream);
    } catch (error) {
      await this.#sendError(stream, exchangeOf(request.raw).id, error);
    } finally {
      await stream.end();
      this.#open.delete(entry);
      this.#metrics.streamClosed();
    }
  }

  /** Streams that may finish go on; the others are ended now. */
  beginShutdown(): void {
    for (const { stream, onShutdown } of this.#open) {
      if (onShutdown === "end") this.#endOne(stream);
    }
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#open].map(({ stream }) => this.#endOne(stream)));
  }

  async #endOne(stream: EventStream): Promise<void> {
    stream.interrupt(new ShuttingDown("The server is shutting down"));
    const { code, message } = this.#errors.SERVICE_UNAVAILABLE("The server is shutting down");
    await stream.send("error", { code, message }).catch(() => undefined);
    await stream.end();
  }

  async #sendError(stream: EventStream, requestId: string, thrown: unknown): Promise<void> {
    // The reader is gone, or the shutdown has already said so: nobody to tell.
    if (thrown instanceof StreamClosed || thrown instanceof ShuttingDown || stream.signal.aborted) return;
    const error = toHttpError(thrown, this.#errors);
    reportError(this.#log, requestId, error, thrown);
    await stream.send("error", { code: error.code, message: error.message }).catch(() => undefined);
  }
}
