/** Longer names are compared up to here: the work grows with the product of both lengths, and nobody mistypes them by hand. */
const LONGEST_COMPARED = 64;
/** More than this is another name, not a slip: a third of the letters, and never more than three. */
const LARGEST_SHARE_OF_EDITS = 1 / 3;
const MOST_EDITS = 3;
/** A name that only goes on after the given letters is nearer than any with a slip in it. */
const UNFINISHED = 0.5;
const USUAL_COUNT = 3;

/** The candidates most like a mistyped name, best first, case aside; none when nothing is near. */
export function nearNames(given: string, candidates: Iterable<string>, most = USUAL_COUNT): string[] {
  const wanted = fold(given);
  const allowed = Math.max(1, Math.min(MOST_EDITS, Math.floor(wanted.length * LARGEST_SHARE_OF_EDITS)));
  const near: { name: string; distance: number }[] = [];
  for (const name of candidates) {
    const folded = fold(name);
    const distance = isUnfinished(wanted, folded) ? UNFINISHED : editDistance(wanted, folded, allowed);
    if (distance <= allowed) near.push({ name, distance });
  }
  near.sort((a, b) => a.distance - b.distance || a.name.length - b.name.length || (a.name < b.name ? -1 : 1));
  return near.slice(0, most).map(({ name }) => name);
}

function fold(name: string): string {
  return name.slice(0, LONGEST_COMPARED).toLowerCase();
}

/** One letter begins far too many names to mean one of them. */
function isUnfinished(given: string, name: string): boolean {
  return given.length > 1 && name.length > given.length && name.startsWith(given);
}

/** Insertions, deletions, changes and swaps of neighbours between two texts, each counting one; stops counting past `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  const width = b.length + 1;
  let beforeLast = new Uint8Array(width);
  let last = Uint8Array.from({ length: width }, (_, i) => i);
  let current = new Uint8Array(width);
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
