/**
 * The hot loops of reading package lists: finding where an entry ends, and summing up its bytes. 16 bytes at a time where the processor can; a list of 400 MB then
 * costs less than its decompression. The host keeps the bytes in this module's memory.
 */

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const OPEN: u8 = 0x7b;
const CLOSE: u8 = 0x7d;
/** `{` and `[` differ in this bit only, and so do `}` and `]`. */
const BRACKET_BIT: u8 = 0x20;

let depth: i32 = 0;
let insideString: bool = false;
let hashHigh: u32 = 0;

/** Begins a value whose opening bracket was just passed. */
export function beginValue(): void {
  depth = 1;
  insideString = false;
}

/**
 * Goes on from `at` to `end`. Returns the address after the bracket that closes the value, or 0 when the bytes end first; `resumeAt` then says where to go on, which
 * may be one past the end when an escape was cut in two.
 */
export function findValueEnd(at: usize, end: usize): usize {
  while (at < end) {
    at = insideString ? skipString(at, end) : skipStructure(at, end);
    if (depth == 0) return at;
  }
  stoppedAt = at;
  return 0;
}

let stoppedAt: usize = 0;
export function resumeAt(): usize {
  return stoppedAt;
}

/** To the byte after the closing quote. */
@inline
function skipString(at: usize, end: usize): usize {
  while (at + 16 <= end) {
    const block = v128.load(at);
    const found = i8x16.bitmask(
      v128.or(i8x16.eq(block, i8x16.splat(QUOTE)), i8x16.eq(block, i8x16.splat(BACKSLASH))),
    );
    if (found == 0) {
      at += 16;
      continue;
    }
    at += ctz(found);
    if (load<u8>(at) == QUOTE) {
      insideString = false;
      return at + 1;
    }
    at += 2;
  }
  while (at < end) {
    const byte = load<u8>(at);
    if (byte == QUOTE) {
      insideString = false;
      return at + 1;
    }
    at += byte == BACKSLASH ? 2 : 1;
  }
  return at;
}

/** To the byte after the next quote, or after the bracket that closes the value. */
@inline
function skipStructure(at: usize, end: usize): usize {
  while (at + 16 <= end) {
    const block = v128.load(at);
    const bracket = v128.or(block, i8x16.splat(BRACKET_BIT));
    const quotes = i8x16.bitmask(i8x16.eq(block, i8x16.splat(QUOTE)));
    const opens = i8x16.bitmask(i8x16.eq(bracket, i8x16.splat(OPEN)));
    const closes = i8x16.bitmask(i8x16.eq(bracket, i8x16.splat(CLOSE)));
    // What stands behind the first quote is inside a string and no bracket.
    const before = quotes == 0 ? 0xffff : (1 << ctz(quotes)) - 1;
    let brackets = (opens | closes) & before;
    while (brackets != 0) {
      const bit = brackets & -brackets;
      if (opens & bit) {
        depth++;
      } else if (--depth == 0) {
        return at + ctz(bit) + 1;
      }
      brackets ^= bit;
    }
    if (quotes != 0) {
      insideString = true;
      return at + ctz(quotes) + 1;
    }
    at += 16;
  }
  while (at < end) {
    const byte = load<u8>(at++);
    if (byte == QUOTE) {
      insideString = true;
      return at;
    }
    const bracket = byte | BRACKET_BIT;
    if (bracket == OPEN) {
      depth++;
    } else if (bracket == CLOSE && --depth == 0) {
      return at;
    }
  }
  return at;
}

/** The low half of a 64-bit hash of the bytes; `hashHighHalf` has the other. */
export function hashBytes(at: usize, end: usize): u32 {
  let a: u64 = 0x9e3779b97f4a7c15 ^ (end - at);
  let b: u64 = 0xc2b2ae3d27d4eb4f;
  while (at + 16 <= end) {
    a = rotl(a ^ load<u64>(at), 29) * 0x9fb21c651e98df25;
    b = rotl(b ^ load<u64>(at, 8), 31) * 0xd6e8feb86659fd93;
    at += 16;
  }
  while (at < end) {
    a = rotl(a ^ load<u8>(at), 11) * 0x9fb21c651e98df25;
    at++;
  }
  const hash = mix(a ^ rotl(b, 32) ^ mix(b));
  hashHigh = <u32>(hash >> 32);
  return <u32>hash;
}

export function hashHighHalf(): u32 {
  return hashHigh;
}

@inline
function mix(value: u64): u64 {
  value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93;
  value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93;
  return value ^ (value >> 32);
}
