import { compareCodePoints } from "../store/compare-code-points.js";
import { nixVersionKey } from "../store/compare-nix-versions.js";

/** A 404 names this many others at most. */
const NEAR = 3;

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
