// "Did you mean": the known name with the fewest edits, if it is near enough to be a plausible slip.

/** More than a third of the letters wrong is another word, not a slip. */
const LARGEST_SHARE_OF_EDITS = 1 / 3;
/** Names beyond this are no field names; the quadratic distance is not worth its time on them. */
const LONGEST_NAME = 64;

export function nearestName(given: string, known: readonly string[]): string | undefined {
  if (given.length > LONGEST_NAME) return undefined;
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  const allowed = Math.max(1, Math.floor(Math.max(given.length, best?.length ?? 0) * LARGEST_SHARE_OF_EDITS));
  return bestDistance <= allowed ? best : undefined;
}

/** Insertions, deletions, changes and swaps of neighbours count one each. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const change = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(change, at(i - 1, j) + 1, at(i, j - 1) + 1, swapped ? at(i - 2, j - 2) + 1 : change));
    }
  }
  return at(a.length, b.length);
}
