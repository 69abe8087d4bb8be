// Compression by Accept-Encoding, off the event loop. Compressed forms live as long as the Buffer they were made from, so a
// service that keeps answers in a cache compresses each once.
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

export type Encoding = "br" | "gzip";

/** Below this an answer fits one packet with its headers, and compression saves nothing. */
export const SMALLEST_COMPRESSED = 1200;
/** The pool has four threads; beyond this queue plain bytes reach the client sooner. */
const MAX_WAITING = 64;
/** Middle levels: text shrinks to nearly the same size at a fraction of the time. */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 6;

const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:json|javascript|xml|[a-z0-9.+-]+\+json|[a-z0-9.+-]+\+xml)|image\/svg\+xml)/;

export function isCompressible(contentType: string): boolean {
  return COMPRESSIBLE.test(contentType);
}

/** The best encoding both sides know; brotli when the client likes both alike. */
export function chooseEncoding(acceptEncoding: string | string[] | undefined): Encoding | undefined {
  if (typeof acceptEncoding !== "string") return undefined;
  let best: Encoding | undefined;
  let bestWeight = 0;
  for (const item of acceptEncoding.toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = weightOf(parameters);
    if ((name === "br" && weight >= bestWeight && weight > 0) || (name === "gzip" && weight > bestWeight))
      [best, bestWeight] = [name, weight];
  }
  return best;
}

function weightOf(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => parameter.startsWith("q="));
  const weight = q === undefined ? 1 : Number(q.slice(2));
  return Number.isFinite(weight) ? weight : 0;
}

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: GZIP_LEVEL }),
} satisfies Record<Encoding, (bytes: Buffer) => Promise<Buffer>>;

const kept = new WeakMap<Buffer, { [E in Encoding]?: Promise<Buffer> }>();
let waiting = 0;

/** Gives `undefined` when the pool is busy and plain bytes are the better answer. */
export function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> | undefined {
  const forms = kept.get(bytes) ?? {};
  const known = forms[encoding];
  if (known !== undefined) return known;
  if (waiting >= MAX_WAITING) return undefined;
  kept.set(bytes, forms);
  waiting++;
  const made = compressors[encoding](bytes).finally(() => {
    waiting--;
  });
  forms[encoding] = made;
  return made;
}
