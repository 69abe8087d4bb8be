/**
 * Orders strings by code point, which is also the byte order of their UTF-8. The `<` of JavaScript compares UTF-16
 * units and puts U+1F600 before U+FFFD.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const xIsSurrogate = (x & 0xf800) === 0xd800;
    const yIsSurrogate = (y & 0xf800) === 0xd800;
    // A surrogate stands for a code point above every single unit.
    if (xIsSurrogate !== yIsSurrogate) return xIsSurrogate ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

/** Lower-cases A-Z and nothing else: the folding that `q`, `version` and `license` are compared under. */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (run) => run.toLowerCase());
}
