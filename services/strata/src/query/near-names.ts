import { nearNames } from "@kit/near-names";
import { compareCodePoints } from "../store/compare-code-points.js";
import { nixVersionKey } from "../store/compare-nix-versions.js";
import type { TextDictionary } from "./text-dictionary.js";

/** A 404 names this many others at most. */
const NEAR = 3;
/** Paths compared letter by letter; keeps a miss well under a millisecond. */
const MOST_COMPARED = 400;

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
  return nearNames(asked, readPaths(paths, neighbourhood(paths, asked)), NEAR);
}

function* readPaths(paths: TextDictionary, { low, high }: { low: number; high: number }): Generator<string> {
  for (let number = low; number < high; number++) yield paths.text(number);
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
