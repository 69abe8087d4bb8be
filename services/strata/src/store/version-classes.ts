import { compareCodePoints } from "./compare-code-points.js";
import { nixVersionKey } from "./compare-nix-versions.js";

/** For each version its place in Nix order; versions that Nix holds to be equal (`1.0`, `1-0`) share one. */
export function classifyVersions(versions: readonly string[]): Uint32Array {
  const keys = versions.map(nixVersionKey);
  const order = Array.from(keys.keys()).sort((a, b) => compareCodePoints(keys[a]!, keys[b]!));
  const classes = new Uint32Array(versions.length);
  let current = -1;
  let previous: string | undefined;
  for (const number of order) {
    if (keys[number] !== previous) current++;
    previous = keys[number];
    classes[number] = current;
  }
  return classes;
}
