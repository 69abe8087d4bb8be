// From a handler's answer to bytes on the wire: status, cache rules, conditional requests, compression.
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RouteDeclaration } from "../contract/declare-route.js";
import { type AnswerOptions, BytesAnswer, FileAnswer, JsonAnswer } from "./answers.js";
import { checkHeaders } from "./check-headers.js";
import { chooseEncoding, compress, type Encoding, isCompressible, SMALLEST_COMPRESSED } from "./compress.js";

const JSON_TYPE = "application/json";
const NO_OPTIONS: AnswerOptions = {};

export interface CacheRules {
  readonly cacheControl: string | undefined;
  /** Cacheable answers without a validator of their own get one from their bytes. */
  readonly makesEtag: boolean;
}

export function cacheRulesOf(route: RouteDeclaration): CacheRules {
  if (route.cache !== undefined) return { cacheControl: `public, max-age=${route.cache.maxAge}`, makesEtag: true };
  return { cacheControl: route.noStore === true ? "no-store" : undefined, makesEtag: false };
}

export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  rules: CacheRules,
  answer: unknown,
  etag: string | undefined,
): void {
  if (answer instanceof FileAnswer) {
    sendFile(reply, rules, answer);
    return;
  }
  const isBytes = answer instanceof BytesAnswer;
  const options = isBytes || answer instanceof JsonAnswer ? answer.options : NO_OPTIONS;
  const contentType = isBytes ? answer.contentType : JSON_TYPE;
  const bytes = isBytes ? answer.bytes : toJson(answer instanceof JsonAnswer ? answer.value : answer);
  checkHeaders(options.headers);
  if (options.headers !== undefined) reply.headers(options.headers as Record<string, string>);
  reply.header("content-type", contentType);
  const status = options.status ?? 200;
  if (status !== 200) {
    sendPlain(reply, status, bytes);
    return;
  }
  if (rules.cacheControl !== undefined) reply.header("cache-control", rules.cacheControl);
  const validator = options.etag ?? etag ?? (rules.makesEtag ? digest(bytes) : undefined);
  if (validator !== undefined && matches(request.headers["if-none-match"], validator)) {
    sendNotModified(request, reply, validator);
  } else {
    sendEncoded(reply, bytes, encodingFor(request, reply, bytes, contentType), validator);
  }
}

function sendEncoded(
  reply: FastifyReply,
  bytes: Buffer,
  encoding: Encoding | undefined,
  validator: string | undefined,
): void {
  const compressed = encoding === undefined ? undefined : compress(bytes, encoding);
  if (compressed === undefined) {
    if (validator !== undefined) reply.header("etag", `"${validator}"`);
    sendPlain(reply, 200, bytes);
    return;
  }
  compressed.then(
    (small) => {
      if (validator !== undefined) reply.header("etag", `"${validator}-${encoding}"`);
      reply.header("content-encoding", encoding);
      sendPlain(reply, 200, small);
    },
    (error: unknown) => void reply.send(error),
  );
}

function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function sendPlain(reply: FastifyReply, status: number, bytes: Buffer): void {
  reply.code(status);
  reply.send(status === 204 || status === 304 ? undefined : bytes);
}

function encodingFor(
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: Buffer,
  contentType: string,
): Encoding | undefined {
  if (bytes.length < SMALLEST_COMPRESSED || !isCompressible(contentType)) return undefined;
  addVary(reply, "Accept-Encoding");
  return chooseEncoding(request.headers["accept-encoding"]);
}

function addVary(reply: FastifyReply, name: string): void {
  const present = reply.getHeader("vary");
  reply.header("vary", present === undefined ? name : `${present}, ${name}`);
}

/** The stored form may be any encoding's; each carries the encoding as suffix of the same validator. */
export function matches(ifNoneMatch: string | undefined, validator: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((item) => {
    const tag = item
      .trim()
      .replace(/^W\//, "")
      .replace(/^"(.*)"$/, "$1");
    return tag === validator || tag === `${validator}-br` || tag === `${validator}-gzip`;
  });
}

export function sendNotModified(request: FastifyRequest, reply: FastifyReply, validator: string): void {
  const first = request.headers["if-none-match"]
    ?.split(",")
    .find((item) => matches(item, validator))
    ?.trim();
  reply.header("etag", first === undefined || first === "*" ? `"${validator}"` : first);
  reply.removeHeader("content-type");
  reply.code(304).send();
}

function sendFile(reply: FastifyReply, rules: CacheRules, answer: FileAnswer): void {
  const { headers, contentType, status } = answer.options;
  checkHeaders(headers);
  if (rules.cacheControl !== undefined) reply.header("cache-control", rules.cacheControl);
  if (headers !== undefined) reply.headers(headers as Record<string, string>);
  if (contentType !== undefined) reply.header("content-type", contentType);
  if (status !== undefined) reply.code(status);
  (reply as FastifyReply & FileSender).sendFile(answer.name, answer.directory, {
    cacheControl: false,
    contentType: contentType === undefined,
  });
}

/** What @fastify/static adds to replies. */
interface FileSender {
  sendFile(name: string, directory: string, options: { cacheControl: boolean; contentType: boolean }): FastifyReply;
}

function digest(bytes: Buffer): string {
  return createHash("sha1").update(bytes).digest("base64url");
}
