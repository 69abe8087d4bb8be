// What a handler can answer with. Anything that is none of these classes is sent as JSON.
import type { EventStreamWriter } from "./event-stream.js";

export interface AnswerOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Bare validator, without quotes: answered as `ETag`, compared with `If-None-Match`. */
  readonly etag?: string;
}

/** Bytes that are ready: no JSON work per request. Keep the Buffer in a cache and its compressed forms are kept with it. */
export class BytesAnswer {
  constructor(
    readonly bytes: Buffer,
    readonly contentType: string,
    readonly options: AnswerOptions,
  ) {}
}

/** JSON with a status or headers of its own. */
export class JsonAnswer<Value = unknown> {
  constructor(
    readonly value: Value,
    readonly options: AnswerOptions,
  ) {}
}

/** A file below a directory, with Range, ETag and Last-Modified. */
export class FileAnswer {
  constructor(
    readonly directory: string,
    readonly name: string,
    readonly options: AnswerOptions & { readonly contentType?: string },
  ) {}
}

export interface EventStreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** `end` (default): a shutdown ends the stream at once. `finish`: it may go on until the shutdown's deadline. */
  readonly onShutdown?: "end" | "finish";
}

export class EventStreamAnswer {
  constructor(
    readonly produce: (stream: EventStreamWriter<Record<string, unknown>>) => Promise<void>,
    readonly options: EventStreamOptions,
  ) {}
}

export function bytes(
  content: Buffer | Uint8Array,
  options: AnswerOptions & { readonly contentType: string },
): BytesAnswer {
  const buffer = Buffer.isBuffer(content)
    ? content
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return new BytesAnswer(buffer, options.contentType, options);
}

export function text(content: string, options: AnswerOptions & { readonly contentType?: string } = {}): BytesAnswer {
  return new BytesAnswer(Buffer.from(content), options.contentType ?? "text/plain; charset=utf-8", options);
}

export function json<Value>(value: Value, options: AnswerOptions = {}): JsonAnswer<Value> {
  return new JsonAnswer(value, options);
}

export function file(
  directory: string,
  name: string,
  options: AnswerOptions & { readonly contentType?: string } = {},
): FileAnswer {
  return new FileAnswer(directory, name, options);
}
