// JSON of large values in slices. JSON.stringify of a picture as an array of integers holds the event loop for a tenth of
// a second and more; here bytes are written as digits straight into buffers, with a turn of the event loop between slices.
import { setImmediate as nextTurn } from "node:timers/promises";

/** About half a millisecond of work on a slow core. */
const BYTES_PER_SLICE = 64 * 1024;
/** Longest text of one element: three digits and a comma. */
const LONGEST_ELEMENT = 4;

/** The same shape, with bytes allowed where the declaration has an array of numbers. */
export type WithBytes<T> = T extends readonly number[]
  ? T | Uint8Array
  : T extends readonly (infer Item)[]
    ? readonly WithBytes<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: WithBytes<T[Key]> }
      : T;

export async function* serializeInChunks(value: unknown): AsyncGenerator<string | Uint8Array> {
  if (value instanceof Uint8Array) {
    yield "[";
    for (let start = 0; start < value.length; start += BYTES_PER_SLICE) {
      yield digitsOf(value.subarray(start, start + BYTES_PER_SLICE), start === 0);
      await nextTurn();
    }
    yield "]";
  } else if (!holdsBytes(value)) {
    yield JSON.stringify(value) ?? "null";
  } else if (Array.isArray(value)) {
    let separator = "[";
    for (const item of value) {
      yield separator;
      yield* serializeInChunks(item);
      separator = ",";
    }
    yield "]";
  } else {
    let separator = "{";
    for (const [key, item] of Object.entries(value as object)) {
      if (item === undefined) continue;
      yield `${separator}${JSON.stringify(key)}:`;
      yield* serializeInChunks(item);
      separator = ",";
    }
    yield "}";
  }
}

function holdsBytes(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof Uint8Array || Object.values(value).some(holdsBytes);
}

const ZERO = 48;
const COMMA = 44;

function digitsOf(bytes: Uint8Array, first: boolean): Uint8Array {
  const out = Buffer.allocUnsafe(bytes.length * LONGEST_ELEMENT);
  let at = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (i > 0 || !first) out[at++] = COMMA;
    if (byte >= 100) out[at++] = ZERO + Math.floor(byte / 100);
    if (byte >= 10) out[at++] = ZERO + (Math.floor(byte / 10) % 10);
    out[at++] = ZERO + (byte % 10);
  }
  return out.subarray(0, at);
}
