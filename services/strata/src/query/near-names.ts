import { compareCodePoints, foldAscii } from "../store/compare-code-points.js";
import { nixVersionKey } from "../store/compare-nix-versions.js";
import type { TextDictionary } from "./text-dictionary.js";

/** A 404 names this many others at most. */
const NEAR = 3;
/** Paths compared letter by letter; keeps a miss well under a millisecond. */
const MOST_COMPARED = 400;
/** A name further away than this is another name, not a slip. */
const FARTHEST = { share: 0.34, letters: 3 } as const;

/** Versions that begin as the asked one does, newest first, then its neighbours in version order. `versions` is newest first. */
export function findNearVersions(versions: readonly string[], asked: string): string[] {
  const near = versions.filter((version) => asked !== "" && version.startsWith(asked)).slice(0, NEAR);
  const key = nixVersionKey(asked);
  let above = versions.length - 1;
  while (above >= 0 && compareCodePoints(nixVersionKey(versions[above]!), key) < 0) above--;
  for (let step = 0; near.length < NEAR && step < versions.length; step++) {
    for (const version of [versions[above - step], versions[above + 1 + step]]) {
      if (version !== undefined && near.length < NEAR && !near.includes(version)) near.push(version);
    }
  }
  return near;
}

/** Paths a slip of the keyboard away, among those that begin like the asked one. */
export function findNearPaths(paths: TextDictionary, asked: string): string[] {
  const folded = foldAscii(asked);
  const { low, high } = neighbourhood(paths, asked);
  const allowed = Math.max(1, Math.min(FARTHEST.letters, Math.floor(folded.length * FARTHEST.share)));
  const near: { path: string; distance: number }[] = [];
  for (let number = low; number < high; number++) {
    const path = paths.text(number);
    if (Math.abs(path.length - folded.length) > allowed) continue;
    const distance = editDistance(foldAscii(path), folded, allowed);
    if (distance <= allowed) near.push({ path, distance });
  }
  near.sort((a, b) => a.distance - b.distance || a.path.length - b.path.length || compareCodePoints(a.path, b.path));
  return near.slice(0, NEAR).map(({ path }) => path);
}

/** The paths with the longest common beginning that are still few enough, around the place where the asked one would be. */
function neighbourhood(paths: TextDictionary, asked: string): { low: number; high: number } {
  const letters = [...asked];
  let best = { low: 0, high: 0 };
  for (let length = letters.length; length > 0; length--) {
    const range = paths.prefixRange(letters.slice(0, length).join(""));
    if (range.high - range.low > MOST_COMPARED) break;
    best = range;
  }
  if (best.high > best.low) return best;
  const place = paths.place(asked);
  return { low: Math.max(0, place - MOST_COMPARED / 2), high: Math.min(paths.count, place + MOST_COMPARED / 2) };
}

/** Insertions, deletions, changes and swaps of neighbours between two texts; stops counting past `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  const width = b.length + 1;
  let beforeLast = new Uint16Array(width);
  let last = Uint16Array.from({ length: width }, (_, i) => i);
  let current = new Uint16Array(width);
  for (let i = 1; i <= a.length; i++) {
    // Only cells near the diagonal can stay within the limit.
    const from = Math.max(1, i - limit);
    const to = Math.min(b.length, i + limit);
    current.fill(limit + 1);
    current[0] = i;
    let smallest = from === 1 ? i : limit + 1;
    for (let j = from; j <= to; j++) {
      const change = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1;
      let distance = Math.min(last[j]! + 1, current[j - 1]! + 1, last[j - 1]! + change);
      const isSwap =
        i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
      if (isSwap) distance = Math.min(distance, beforeLast[j - 2]! + 1);
      current[j] = distance;
      smallest = Math.min(smallest, distance);
    }
    if (smallest > limit) return limit + 1;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[b.length]!;
}
