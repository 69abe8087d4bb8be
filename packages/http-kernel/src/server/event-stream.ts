// Server-sent events: heartbeat, back-pressure, a bound on what a slow reader may keep in memory, and clean endings.
// Written here because frameworks' plugins await nothing: they buffer without bound for readers that do not read.
import type { ServerResponse } from "node:http";
import { serializeInChunks, type WithBytes } from "./json-chunks.js";

export interface EventStreamLimits {
  /** Proxies cut silent connections; most wait 30 s or more. */
  readonly heartbeatMs: number;
  /** What may wait in memory for one reader before it is dropped. */
  readonly maxBufferedBytes: number;
  /** A reader that takes nothing for this long is gone, even if its socket still stands. */
  readonly stallMs: number;
}

export const EVENT_STREAM_LIMITS: EventStreamLimits = {
  heartbeatMs: 10_000,
  maxBufferedBytes: 4 * 1024 * 1024,
  stallMs: 60_000,
};

/** Larger texts are cut, so that a slow reader that does take data is told from one that takes none. */
const LARGEST_WRITE = 256 * 1024;

export interface SendOptions {
  /** Becomes the `id:` line, which clients give back as `Last-Event-ID`. */
  readonly id?: string | number;
}

export interface EventStreamWriter<Events> {
  /** Aborts when the reader is gone, was dropped as too slow, or the server shuts down. */
  readonly signal: AbortSignal;
  /** Resolves when the reader has room for more; await it, and slow readers slow the producer instead of filling memory. */
  send<Name extends keyof Events & string>(event: Name, data: Events[Name], options?: SendOptions): Promise<void>;
  /**
   * For data of megabytes: serialised in slices between which the event loop turns. A `Uint8Array` may stand wherever the
   * declaration has an array of integers, and is written as one.
   */
  sendLarge<Name extends keyof Events & string>(
    event: Name,
    data: WithBytes<Events[Name]>,
    options?: SendOptions,
  ): Promise<void>;
  /** A line readers ignore. */
  comment(text: string): Promise<void>;
}

export class StreamClosed extends Error {
  override readonly name = "StreamClosed";
}

export class EventStream implements EventStreamWriter<Record<string, unknown>> {
  readonly #response: ServerResponse;
  readonly #limits: EventStreamLimits;
  readonly #controller = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  /** Writes are put in a row so that nothing lands inside an event that is sent in slices. */
  #tail: Promise<void> = Promise.resolve();
  #waitingTasks = 0;
  #waitingBytes = 0;
  #ended = false;

  constructor(response: ServerResponse, limits: EventStreamLimits = EVENT_STREAM_LIMITS) {
    this.#response = response;
    this.#limits = limits;
    this.#heartbeat = setInterval(() => this.#beat(), limits.heartbeatMs);
    response.once("close", () => this.#stop(new StreamClosed("The reader has gone")));
    response.on("error", () => this.#stop(new StreamClosed("The connection failed")));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  send(event: string, data: unknown, options: SendOptions = {}): Promise<void> {
    return this.#enqueueText(`${head(event, options)}data: ${JSON.stringify(data)}\n\n`);
  }

  sendLarge(event: string, data: unknown, options: SendOptions = {}): Promise<void> {
    return this.#enqueue(async () => {
      await this.#write(`${head(event, options)}data: `);
      for await (const slice of serializeInChunks(data)) await this.#write(slice);
      await this.#write("\n\n");
    });
  }

  comment(text: string): Promise<void> {
    return this.#enqueueText(`: ${text.replaceAll(/[\r\n]+/g, " ")}\n\n`);
  }

  /** Tells the producer to stop; what it has already handed over is still written before `end`. */
  interrupt(reason: Error): void {
    this.#controller.abort(reason);
  }

  async end(): Promise<void> {
    await this.#tail.catch(() => undefined);
    if (this.#ended) return;
    this.#stop(new StreamClosed("The stream has ended"));
    this.#response.end();
  }

  #enqueueText(text: string): Promise<void> {
    // Only a producer that does not await gets here with much waiting: its reader is dropped before memory fills.
    if (this.#waitingBytes > this.#limits.maxBufferedBytes) this.#drop("The reader is too slow");
    this.#waitingBytes += text.length;
    return this.#enqueue(async () => {
      await this.#write(text);
      this.#waitingBytes -= text.length;
    });
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    if (this.#ended) return Promise.reject(new StreamClosed("The stream has ended"));
    this.#waitingTasks++;
    const done = this.#tail.then(task).finally(() => {
      this.#waitingTasks--;
    });
    // A failed write ends the stream; the row itself must go on so that `end` can wait for it.
    this.#tail = done.catch(() => undefined);
    return done;
  }

  async #write(chunk: string | Uint8Array): Promise<void> {
    if (chunk.length <= LARGEST_WRITE) return this.#writeSlice(chunk);
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    for (let start = 0; start < bytes.length; start += LARGEST_WRITE)
      await this.#writeSlice(bytes.subarray(start, start + LARGEST_WRITE));
  }

  async #writeSlice(slice: string | Uint8Array): Promise<void> {
    if (this.#ended) throw new StreamClosed("The reader has gone");
    if (!this.#response.write(slice)) await this.#drained();
  }

  #drained(): Promise<void> {
    return new Promise((resolve, reject) => {
      const response = this.#response;
      const timer = setTimeout(() => this.#drop("The reader has stalled"), this.#limits.stallMs);
      const settle = () => {
        clearTimeout(timer);
        response.off("drain", settle);
        response.off("close", settle);
        if (this.#ended) reject(new StreamClosed("The reader has gone"));
        else resolve();
      };
      if (this.#ended) return settle();
      response.on("drain", settle);
      response.on("close", settle);
    });
  }

  #beat(): void {
    if (this.#waitingTasks === 0) this.comment("still here").catch(() => undefined);
  }

  #drop(reason: string): void {
    this.#stop(new StreamClosed(reason));
    this.#response.destroy();
  }

  #stop(reason: Error): void {
    this.#ended = true;
    clearInterval(this.#heartbeat);
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }
}

/** Names and ids are our own, but a line break in one would forge an event. */
function head(event: string, options: SendOptions): string {
  const id = options.id === undefined ? "" : `id: ${oneLine(String(options.id))}\n`;
  return `${id}event: ${oneLine(event)}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, "");
}
